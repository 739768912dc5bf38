"""Lines of JSON from the host on descriptor 3 and to it on descriptor 4."""

import json
import os
from _thread import allocate_lock

_source, _sink = 3, 4


class Control:
    """The two descriptors. They belong to this process alone: no program and no fork of it has them."""

    def __init__(self, interrupts):
        self._interrupts = interrupts
        self._chunks = []
        self._lock = allocate_lock()
        for descriptor in (_source, _sink):
            os.set_inheritable(descriptor, False)

    def fileno(self):
        """What is ready for reading when the host has written."""
        return _source

    def read(self):
        """The next message; waits for it. None when the host has gone. What fails on the way can be tried again."""
        while True:
            # The host waits for the end of a cell before it sends another: a line is the last that has come.
            if self._chunks and self._chunks[-1].endswith(b"\n"):
                messages = [json.loads(line) for line in b"".join(self._chunks).splitlines()]
                self._chunks = []
                for message in messages:
                    if "code" in message:
                        return message
            chunk = os.read(_source, 1 << 20)
            if not chunk:
                return None
            self._chunks.append(chunk)

    def send(self, text):
        """Writes one message, whole: an interrupt waits until it is out."""
        rest = memoryview(text.encode("utf-8", "surrogatepass") + b"\n")
        with self._interrupts.held(), self._lock:
            while rest:
                rest = rest[os.write(_sink, rest) :]

    def forget(self):
        """In a fork: closes its copies."""
        for descriptor in (_source, _sink):
            os.close(descriptor)
