"""The programs that the conformance suite runs inside a sandbox, in Python.

Usage: python3 -c "$(cat probe.py)" NAME [ARGUMENT...]. The same programs in POSIX sh: probe.sh.
"""

import os
import sys
import time

BLOCK = b"x" * 65536


def write(data, stream=1):
    view = memoryview(data)
    while view:
        view = view[os.write(stream, view) :]


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def unescape(piece):
    return bytes(int(digits, 8) for digits in piece.split("\\")[1:])


def beat(path):
    """A life sign every 50 ms, appended to a file."""
    while True:
        with open(path, "ab") as file:
            file.write(b".")
        time.sleep(0.05)


def traits():
    found = ["python3"]
    if hasattr(os, "fork"):
        try:
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
            found.append("fork")
        except OSError:
            pass  # a box without processes: the trait is absent
    if receives_signals():
        found.append("signals")
    if "fork" in found and hasattr(os, "setsid"):
        found.append("setsid")
    if os.access("/proc/self/cmdline", os.R_OK):
        found.append("procfs")
    print("\n".join(found))


# Input and output


def copy():
    while data := os.read(0, 65536):
        write(data)


def lines():
    """Answers each line of input."""
    for line in sys.stdin.buffer:
        write(b"got " + line)
    write(b"end\n")


def write_pieces(*pieces):
    """Each argument in octal escapes."""
    for piece in pieces:
        write(unescape(piece))


def slowly(seconds, *pieces):
    for piece in pieces:
        write(unescape(piece))
        time.sleep(float(seconds))


def both(count):
    """Numbers to stdout and stderr by turns."""
    for number in range(int(count)):
        write(b"o%d " % number)
        write(b"e%d " % number, 2)


def flood(count, path=None):
    """Blocks of 64 KiB between HEAD and TAIL, each noted by one byte in a file."""
    write(b"HEAD")
    for _ in range(int(count)):
        write(BLOCK)
        if path:
            with open(path, "ab") as file:
                file.write(b".")
    write(b"TAIL")


def say(seconds, text):
    write(os.fsencode(text))
    time.sleep(float(seconds))


# What the program was given


def argv(*arguments):
    for argument in arguments:
        write(os.fsencode(argument) + b"\0")


def env(*names):
    for name in names:
        value = os.environb.get(name.encode())
        write((b"" if value is None else b"=" + value) + b"\0")


def cwd():
    write(os.fsencode(os.getcwd()))


def pid():
    write(b"%d" % os.getpid())


def user():
    write(b"%d" % os.getuid())


def terminal():
    write(b"yes" if os.isatty(0) and os.isatty(1) else b"no")


def command_lines():
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    write(file.read())
            except OSError:
                pass  # it ended while we looked


# How it ends


def leave(code):
    sys.exit(int(code))


def sleep(seconds):
    time.sleep(float(seconds))


def send_itself(name):
    import signal

    os.kill(os.getpid(), getattr(signal, f"SIG{name}"))
    time.sleep(5)


def allocate(mebibytes):
    write(b"%d" % len(bytearray(os.urandom(1) * (int(mebibytes) * 1024 * 1024))))


# Files


def read(*paths):
    for path in paths:
        with open(path, "rb") as file:
            write(file.read())


def write_texts(*pairs):
    for path, text in zip(pairs[::2], pairs[1::2], strict=True):
        write_file(path, os.fsencode(text))


def size(path):
    write(b"%d" % os.stat(path).st_size)


def await_file(path):
    write(b"ready")
    while not os.path.exists(path):
        time.sleep(0.05)
    write(b"done")


# The network


def connect(host, port):
    import socket

    try:
        socket.create_connection((host, int(port)), timeout=3).close()
        write(b"connected")
    except OSError as error:
        write(f"refused: {error}".encode())


def fetch(url):
    import urllib.request

    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            write(b"%d %s" % (page.status, page.read()))
    except OSError as error:
        write(f"refused: {error}".encode())


def serve(port, text):
    import socket

    listener = socket.create_server(("0.0.0.0", int(port)))
    write(b"ready")
    while True:
        connection, _ = listener.accept()
        connection.recv(65536)
        body = text.encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        connection.close()


# Trees of processes; each beats in a file


def silence():
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def receives_signals():
    import signal

    received = []
    try:
        signal.signal(signal.SIGUSR1, lambda *_: received.append(True))
        os.kill(os.getpid(), signal.SIGUSR1)
    except (AttributeError, OSError):
        return False  # a box whose programs have no signals: the trait is absent
    return bool(received)


def wait_as_leader():
    write(b"ready")
    time.sleep(60)


def heartbeat(path):
    write(b"ready")
    beat(path)


def child(path):
    if os.fork() == 0:
        beat(path)
    wait_as_leader()


def own_session(path):
    if os.fork() == 0:
        os.setsid()
        silence()
        beat(path)
    wait_as_leader()


def double_fork(path, new_session=False):
    first = os.fork()
    if first == 0:
        if new_session:
            os.setsid()
        if os.fork() == 0:
            silence()
            os.execve(sys.executable, [sys.executable, "-c", sys.orig_argv[2], "heartbeat", path], {})
        os._exit(0)
    os.waitpid(first, 0)
    wait_as_leader()


def daemon(path):
    double_fork(path, new_session=True)


def ignore_signals():
    import signal

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def ignore_term(path):
    ignore_signals()
    write(b"ready")
    beat(path)


def deaf_child(path):
    if os.fork() == 0:
        ignore_signals()
        beat(path)
    wait_as_leader()


def stopped():
    import signal

    write(b"ready")
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)


def clean_up(path):
    """Writes the file on SIGTERM."""
    import signal

    def finish(*_):
        write_file(path, b"cleaned")
        os._exit(7)

    signal.signal(signal.SIGTERM, finish)
    write(b"ready")
    while True:
        time.sleep(0.05)


def holder(path):
    """A child goes on and holds the output open."""
    if os.fork() == 0:
        beat(path)
    write(b"leader")
    os._exit(3)


def crowd(count):
    """That many children at once."""
    for _ in range(int(count)):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)


PROGRAMS = {
    "traits": traits,
    "copy": copy,
    "lines": lines,
    "bytes": write_pieces,
    "slowly": slowly,
    "both": both,
    "flood": flood,
    "say": say,
    "argv": argv,
    "env": env,
    "cwd": cwd,
    "pid": pid,
    "user": user,
    "terminal": terminal,
    "command-lines": command_lines,
    "exit": leave,
    "sleep": sleep,
    "signal": send_itself,
    "allocate": allocate,
    "read": read,
    "write": write_texts,
    "size": size,
    "await": await_file,
    "connect": connect,
    "fetch": fetch,
    "serve": serve,
    "heartbeat": heartbeat,
    "child": child,
    "own-session": own_session,
    "double-fork": double_fork,
    "daemon": daemon,
    "ignore-term": ignore_term,
    "deaf-child": deaf_child,
    "stopped": stopped,
    "clean-up": clean_up,
    "holder": holder,
    "crowd": crowd,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
