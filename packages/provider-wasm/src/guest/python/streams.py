"""The standard streams as CPython makes them on pipes; those of the snapshot believe in a terminal."""

import io
import sys


def install(buffered):
    """Opens stdin, stdout and stderr anew. Unbuffered, output leaves as it is written, as with `python -u`."""
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(_file(0, "rb", -1), encoding="utf-8", errors="surrogateescape")
    sys.stdout = sys.__stdout__ = _writer(1, "surrogateescape", buffered, line_buffering=False)
    sys.stderr = sys.__stderr__ = _writer(2, "backslashreplace", buffered, line_buffering=True)


def _writer(descriptor, errors, buffered, line_buffering):
    file = _file(descriptor, "wb", -1 if buffered else 0)
    return io.TextIOWrapper(
        file, encoding="utf-8", errors=errors, newline="\n", line_buffering=line_buffering, write_through=not buffered
    )


def _file(descriptor, mode, buffering):
    file = open(descriptor, mode, buffering, closefd=False)
    raw = getattr(file, "raw", file)
    raw.name = ("<stdin>", "<stdout>", "<stderr>")[descriptor]
    return file
