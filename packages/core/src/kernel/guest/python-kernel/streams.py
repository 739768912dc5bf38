"""The standard streams of a kernel."""

import builtins
import io
import os
import sys

# Where stdout and stderr are kept, above the numbers that files get, which are the lowest that are free.
_kept = {1: 101, 2: 102}


def install():
    """Lines leave as they are written; reading finds its end."""
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", line_buffering=True)
    sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    reopen_stdin()
    for number, kept in _kept.items():
        os.dup2(number, kept, inheritable=False)
    builtins.input = _input


def reopen_stdin():
    """`exit()` closes stdin."""
    if sys.stdin is None or sys.stdin.closed:
        file = open(0, "rb", closefd=False)
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape")


def reopen_outputs():
    """A cell that closed stdout or stderr has silenced itself, and not those after it."""
    for number, kept in _kept.items():
        try:
            os.fstat(number)
        except OSError:
            os.dup2(kept, number)


def forget():
    """In a fork: what it closes is closed."""
    for kept in _kept.values():
        os.close(kept)


def flush():
    """Sends what is still in a buffer of Python or of C."""
    names = ("stdout", "stderr", "__stdout__", "__stderr__")
    for stream in {id(stream): stream for name in names if (stream := getattr(sys, name, None))}.values():
        try:
            stream.flush()
        except Exception:
            # The cell may have put anything here, or closed it; its result stands all the same.
            pass
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None:
        ctypes.CDLL(None).fflush(None)


def _input(prompt="", /):
    raise EOFError(f"input({prompt!r}) has nobody to answer in a cell: put the value into the code")
