"""Signals and sleep, which a lone WebAssembly interpreter lacks."""

import functools
import signal
import time

from . import host


def install():
    """Tells the broker which signals the program handles; the others end it from outside."""
    set_handler = signal.signal

    @functools.wraps(set_handler)
    def signal_(signalnum, handler):
        previous = set_handler(signalnum, handler)
        host.call("handle", int(signalnum), "default" if handler is signal.SIG_DFL else "caught")
        return previous

    signal.signal = signal_
    time.sleep = _sleep


@functools.wraps(time.sleep)
def _sleep(seconds, /):
    if not isinstance(seconds, (int, float)):
        seconds = seconds.__float__() if hasattr(seconds, "__float__") else seconds.__index__()
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    deadline = time.monotonic() + seconds
    while True:
        # A handler that raises nothing does not cut the sleep short.
        host.sleep(max(0, deadline - time.monotonic()))
        if time.monotonic() >= deadline:
            return
