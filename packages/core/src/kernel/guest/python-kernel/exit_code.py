"""The exit code that a SystemExit asks for."""

import sys


def exit_code(error):
    """As CPython: None is 0, a text is printed on stderr and is 1."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        # CPython takes what fits no C integer for -1.
        return error.code & 0xFF if -(2**31) <= error.code < 2**31 else 0xFF
    print(error.code, file=sys.stderr)
    return 1
