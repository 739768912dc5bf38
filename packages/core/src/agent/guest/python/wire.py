"""Frames: the framings and numbers of protocol.ts."""

import binascii
import struct

REQUEST, RESPONSE, DATA, END, CREDIT, CANCEL, EVENT, PING, PONG, FAREWELL, OPEN, CLOSE = range(1, 13)
TO_AGENT = frozenset((REQUEST, DATA, END, CREDIT, CANCEL, PING, CLOSE))
LANE_IN, LANE_OUT, LANE_ERR, LANE_CONTROL_IN, LANE_CONTROL_OUT = range(5)

WINDOW = 256 * 1024
MAX_PAYLOAD = 256 * 1024
MAX_REQUEST = 4 * 1024 * 1024
MAX_STREAMS = 1024
FIRST_OWN_STREAM = 0x80000000
MAX_CONNECTIONS = 128

# What may come before the preamble of the host.
MAX_JUNK = 1024 * 1024
AGENT_PREAMBLE = b"\nSANDKIT-AGENT/1\n"
HOST_PREAMBLE = b"\nSANDKIT-HOST/1 "
# What follows `length` and belongs to the frame before its payload.
HEAD = 6
HEADER = struct.Struct(">IBBI")
MAX_LINE = (4 + HEAD + MAX_REQUEST) * 4 // 3 + 16


class ProtocolError(Exception):
    """The host broke a rule: the connection has to end."""


def binary_frame(kind, lane, stream, payload):
    return [HEADER.pack(HEAD + len(payload), kind, lane, stream), payload]


def text_frame(kind, lane, stream, payload):
    frame = HEADER.pack(HEAD + len(payload), kind, lane, stream) + payload
    return [b":" + binascii.b2a_base64(frame)]


def check_head(length, kind):
    if kind not in TO_AGENT:
        raise ProtocolError("a frame of type %d" % kind)
    if not HEAD <= length <= HEAD + (MAX_REQUEST if kind == REQUEST else MAX_PAYLOAD):
        raise ProtocolError("a frame of type %d claims %d bytes" % (kind, length))


class Decoder:
    """Cuts what arrives into frames (kind, lane, stream, payload), and keeps less than one frame of it."""

    def __init__(self):
        self.rest = bytearray()
        self.framing = None
        self.junk = 0
        self.skipping = False

    def feed(self, data):
        self.rest += data
        if self.framing is None and not self.find_preamble():
            return
        yield from self.binary() if self.framing == b"b" else self.text()

    def find_preamble(self):
        """Skips junk; the letter after the preamble names the framing."""
        while True:
            at = self.rest.find(HOST_PREAMBLE)
            if at < 0:
                self.skip(max(0, len(self.rest) - len(HOST_PREAMBLE)))
                return False
            end = at + len(HOST_PREAMBLE) + 2
            if len(self.rest) < end:
                self.skip(at)
                return False
            letter = bytes(self.rest[end - 2 : end])
            if letter in (b"b\n", b"t\n"):
                self.framing = letter[:1]
                del self.rest[:end]
                return True
            self.skip(at + 1)

    def skip(self, size):
        del self.rest[:size]
        self.junk += size
        if self.junk > MAX_JUNK:
            raise ProtocolError("no host answers: %d bytes came that are not its preamble" % self.junk)

    def binary(self):
        start, rest = 0, self.rest
        try:
            while len(rest) - start > 4:
                length = int.from_bytes(rest[start : start + 4], "big")
                check_head(length, rest[start + 4])
                end = start + 4 + length
                if len(rest) < end:
                    break
                _, kind, lane, stream = HEADER.unpack_from(rest, start)
                with memoryview(rest) as view:
                    payload = bytes(view[start + 4 + HEAD : end])
                start = end
                yield kind, lane, stream, payload
        finally:
            del rest[:start]

    def text(self):
        while True:
            end = self.rest.find(b"\n")
            if end < 0:
                break
            line = bytes(self.rest[:end])
            del self.rest[: end + 1]
            if not self.skipping and line.startswith(b":"):
                yield self.line_frame(line)
            self.skipping = False
        if self.rest and not self.rest.startswith(b":"):
            self.skipping = True
        if self.skipping:
            self.rest.clear()
        elif len(self.rest) > MAX_LINE:
            raise ProtocolError("a line that does not end")

    @staticmethod
    def line_frame(line):
        try:
            frame = binascii.a2b_base64(line[1:])
            length, kind, lane, stream = HEADER.unpack_from(frame)
        except (binascii.Error, struct.error):
            raise ProtocolError("a line that is no frame") from None
        check_head(length, kind)
        if len(frame) != 4 + length:
            raise ProtocolError("a line of %d bytes that claims %d" % (len(frame) - 4, length))
        return kind, lane, stream, frame[4 + HEAD :]
