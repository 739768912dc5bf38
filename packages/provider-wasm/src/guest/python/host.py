"""The way out of the interpreter: blocking calls to the broker, and sleep."""

import json

_call = None
_sleep = None


def connect(call, sleep):
    """Takes the two functions of the realm that lead to the broker."""
    global _call, _sleep
    _call, _sleep = call, sleep


def call(operation, *args):
    """Asks the broker and waits for its answer. Values are JSON."""
    return json.loads(_call(operation, json.dumps(args)))


def sleep(seconds):
    """Blocks for this long, or until a signal arrives. The interpreter then runs its handler."""
    _sleep(seconds * 1000)
    check_signals()


def check_signals():
    """Gives the interpreter the turns after which it looks for signals."""
    for _ in range(200):
        pass
