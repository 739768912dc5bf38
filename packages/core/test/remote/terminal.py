"""Holds a terminal with a shell on it, and copies between it and its own stdin and stdout.

    terminal.py COMMAND ...
"""

import os
import pty
import select
import sys

CHUNK = 256 * 1024

pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
os.set_blocking(master, False)
held = b""
while True:
    poller = select.poll()
    poller.register(master, select.POLLIN | (select.POLLOUT if held else 0))
    if not held:
        poller.register(0, select.POLLIN)
    events = dict(poller.poll())
    if 0 in events:
        held = os.read(0, CHUNK)
        if not held:
            break
    mask = events.get(master, 0)
    if mask & select.POLLOUT and held:
        try:
            held = held[os.write(master, held) :]
        except BlockingIOError:
            pass
    if mask & (select.POLLIN | select.POLLHUP):
        try:
            data = os.read(master, CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            break
        while data:
            data = data[os.write(1, data) :]
