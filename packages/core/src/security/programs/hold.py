"""Programs that wait to be found, or that will not end. The mark is in their command line."""

import os
import signal
import sys
import time

kind, _, path = sys.argv[1:4]


def beat():
    """A life sign every 50 ms."""
    while True:
        with open(path, "ab") as file:
            file.write(b".")
        time.sleep(0.05)


def leave_a_child():
    """Out of the tree, out of the session, deaf to what asks it to end."""
    if os.fork() == 0:
        os.setsid()
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        if os.fork() == 0:
            beat()
        os._exit(0)


if kind == "deaf":
    try:
        leave_a_child()
    except (AttributeError, OSError):
        pass  # no processes here: what goes on is this one
print("ready", flush=True)
beat()
