"""The way out of the interpreter: blocking calls to the broker, and sleep."""

import json

_call = None
_sleep = None
_exchange = None


def connect(call, sleep, exchange):
    """Takes the functions of the realm that lead to the broker."""
    global _call, _sleep, _exchange
    _call, _sleep, _exchange = call, sleep, exchange


def call(operation, *args):
    """Asks the broker and waits for its answer. Values are JSON."""
    return json.loads(_call(operation, json.dumps(args)))


def send(operation, data, *args):
    """Asks the broker with bytes: 256 KiB of them at most."""
    return json.loads(_exchange(operation, json.dumps(args), data, True))


def receive(operation, buffer, *args):
    """Asks the broker for bytes, which it writes to the front of the buffer."""
    return json.loads(_exchange(operation, json.dumps(args), buffer, False))


def sleep(seconds):
    """Blocks for this long, or until a signal arrives. The interpreter then runs its handler."""
    _sleep(seconds * 1000)
    check_signals()


def check_signals():
    """Gives the interpreter the turns after which it looks for signals."""
    for _ in range(200):
        pass
