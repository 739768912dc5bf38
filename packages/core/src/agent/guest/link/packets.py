"""The packets of remote/packets.ts, and what waits to be acknowledged."""

from _collections import deque
from _struct import Struct
from zlib import crc32

HEADER = Struct(">IIQQ")
RESUME = Struct(">QI")
KEY_BYTES = 16
MAX_PAYLOAD = 32 * 1024
DATA, END, LOST = 0, 1, 2


def packet(kind, offset, received, payload=b""):
    """In two pieces."""
    head = HEADER.pack(0, kind << 24 | len(payload), offset, received)[4:]
    return [crc32(payload, crc32(head)).to_bytes(4, "big") + head, payload]


def resumption(nonce, received):
    return nonce + RESUME.pack(received, crc32(nonce + received.to_bytes(8, "big")))


class Sent:
    """What must be kept until the host has it."""

    def __init__(self):
        # Each with the number of its first byte.
        self.chunks = deque()
        self.end = 0
        self.acknowledged = 0
        # How many of the chunks have been sent since the last resume.
        self.next = 0

    def add(self, chunk):
        self.chunks.append((self.end, chunk))
        self.end += len(chunk)

    def acknowledge(self, received):
        if received > self.end:
            raise ValueError("what was never sent cannot have arrived")
        self.acknowledged = max(self.acknowledged, received)
        chunks = self.chunks
        while chunks and chunks[0][0] + len(chunks[0][1]) <= received:
            chunks.popleft()
            self.next = max(0, self.next - 1)

    def rewind(self, received):
        self.acknowledge(received)
        self.next = 0

    def take(self):
        """The next chunk to be sent, and its number; None when all have been."""
        if self.next == len(self.chunks):
            return None
        self.next += 1
        return self.chunks[self.next - 1]


class Received:
    """Cuts what comes from the host into packets."""

    def __init__(self, key):
        self.key = key
        self.buffer = bytearray()
        self.lost = False

    def feed(self, data):
        """Yields ("resume", nonce, received), ("packet", kind, offset, received, payload) and ("lost",)."""
        buffer = self.buffer
        buffer += data
        at = 0
        while True:
            found = self.next_at(at)
            if found is None:
                break
            at, event = found
            if event:
                yield event
        del buffer[:at]

    def next_at(self, at):
        """What is next from there: the place after it, and the event. None when more must come."""
        buffer = self.buffer
        size = len(buffer) - at
        if buffer.startswith(self.key, at):
            if size < KEY_BYTES * 2 + RESUME.size:
                return None
            nonce = bytes(buffer[at + KEY_BYTES : at + KEY_BYTES * 2])
            received, check = RESUME.unpack_from(buffer, at + KEY_BYTES * 2)
            if check == crc32(nonce + received.to_bytes(8, "big")):
                self.lost = False
                return at + KEY_BYTES * 2 + RESUME.size, ("resume", nonce, received)
            return self.skip(at + 1)
        if self.lost:
            return self.skip(at)
        if size < HEADER.size:
            return self.resume_after(at)
        check, length, offset, received = HEADER.unpack_from(buffer, at)
        kind, length = length >> 24, length & 0xFFFFFF
        if length > MAX_PAYLOAD:
            return self.skip(at)
        end = at + HEADER.size + length
        if len(buffer) < end:
            return self.resume_after(at)
        view = memoryview(buffer)
        intact = check == crc32(view[at + 4 : end])
        payload = bytes(view[at + HEADER.size : end]) if intact else b""
        view.release()
        return (end, ("packet", kind, offset, received, payload)) if intact else self.skip(at)

    def resume_after(self, at):
        """The rest of a packet may never come: its host starts anew then."""
        found = self.buffer.find(self.key, at)
        return None if found < 0 else (found, None)

    def skip(self, at):
        """Something broke on the way: on to where the host starts anew."""
        found = self.buffer.find(self.key, at)
        event = None if self.lost else ("lost",)
        self.lost = True
        if found >= 0:
            return found, event
        at = max(at, len(self.buffer) - KEY_BYTES + 1)
        return (at, event) if event else None
