"""The exit code that a SystemExit asks for."""

import sys


def exit_code(error):
    """As CPython: None is 0, a text is printed on stderr and is 1."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        # Whatever a type of the user makes of it. CPython takes what fits no C integer for -1.
        number = int.__index__(error.code)
        return number & 0xFF if -(2**31) <= number < 2**31 else 0xFF
    try:
        print(error.code, file=sys.stderr)
    except Exception:
        # As CPython, which has nothing to print then.
        pass
    return 1
