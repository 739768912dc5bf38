"""Gives a command a terminal of its own, 100 columns wide. What is typed comes by stdin, what is shown goes to stdout.

SIGUSR1 makes it 50 columns wide. Once the command has ended stderr says whether the terminal is as it was."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios


def resize(descriptor, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))


def become_leader():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


master, slave = os.openpty()
resize(slave, 100)
before = termios.tcgetattr(slave)
command = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=slave, stderr=slave, preexec_fn=become_leader)
signal.signal(signal.SIGUSR1, lambda *_: resize(master, 50))
signal.signal(signal.SIGTERM, lambda *_: command.terminate())
inputs = [0, master]
while True:
    ended = command.poll() is not None
    ready, _, _ = select.select(inputs, [], [], 0 if ended else 0.05)
    if ended and master not in ready:
        break
    for descriptor in ready:
        data = os.read(descriptor, 65536)
        if not data:
            inputs.remove(descriptor)
        os.write(1 if descriptor == master else master, data)
print("restored" if termios.tcgetattr(slave) == before else "in disorder", file=sys.stderr)
sys.exit(command.returncode if command.returncode >= 0 else 128 - command.returncode)
