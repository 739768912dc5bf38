"""One host: its frames, its streams, and what waits to be written to it."""

import errno
import os
import select
from _collections import deque

import _socket as socket

from .connection import AcceptedConnection, HostConnection
from .file_streams import ListStream, ReadStream, RemoveStream, WriteStream
from .files import mkdir, move, stat_file, symlink
from .native import Failure, field, from_json, number_field, seconds_field
from .process import Process, signal_field, size_fields
from .staging import StageStream
from .stream import Stream
from .watch import WatchStream
from .wire import (
    AGENT_PREAMBLE,
    CANCEL,
    CLOSE,
    CREDIT,
    DATA,
    END,
    FAREWELL,
    FIRST_OWN_STREAM,
    LANE_CONTROL_IN,
    LANE_IN,
    MAX_CONNECTIONS,
    MAX_STREAMS,
    OPEN,
    PING,
    PONG,
    REQUEST,
    Decoder,
    ProtocolError,
    binary_frame,
    text_frame,
)

CHANNEL_CHUNK = 256 * 1024
# Data beyond this waits where it is, so that an answer never queues behind more.
MAX_QUEUED = 384 * 1024
MAX_BATCH_BYTES = 128 * 1024
# How long what is in no hurry waits for something to go along with.
HELD_SECONDS = 0.004
MAX_BATCH = 64
STREAMS = {
    "spawn": Process,
    "read": ReadStream,
    "write": WriteStream,
    "stage": StageStream,
    "list": ListStream,
    "remove": RemoveStream,
    "connect": HostConnection,
    "watch": WatchStream,
}
FILES = {"stat": stat_file, "mkdir": mkdir, "move": move, "symlink": symlink}
TO_AGENT_LANES = (LANE_IN, LANE_CONTROL_IN)


class Client:
    def __init__(self, agent, source, sink):
        self.agent = agent
        self.source = source
        self.sink = sink
        self.decoder = Decoder()
        self.streams = {}
        self.last_stream = 0
        self.last_own = FIRST_OWN_STREAM - 1
        # Streams of its own that count still: for the host, or for a program that has not read all of it.
        self.connections = set()
        self.greeted = False
        self.closed = False
        self.urgent = deque()
        self.bulk = deque()
        self.queued = 0
        self.waiting = set()
        self.held = None
        self.batch = [AGENT_PREAMBLE]
        for descriptor in {source, sink}:
            os.set_blocking(descriptor, False)
        self.watch(False)
        self.flush()

    def watch(self, blocked):
        if self.source == self.sink:
            self.agent.loop.watch(self.source, select.POLLIN | (select.POLLOUT if blocked else 0), self, self.ready)
        else:
            self.agent.loop.watch(self.source, select.POLLIN, self, self.ready)
            self.agent.loop.watch(self.sink, select.POLLOUT if blocked else 0, self, self.ready)

    def ready(self, mask):
        if mask & select.POLLOUT:
            self.flush()
        if mask & ~select.POLLOUT and not self.closed:
            self.read()

    def read(self):
        try:
            data = os.read(self.source, CHANNEL_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.agent.client_left(self)
            return
        try:
            for kind, lane, number, payload in self.decoder.feed(data):
                self.hear(kind, lane, number, payload)
        except ProtocolError as error:
            self.agent.protocol_broken(self, str(error))

    def hear(self, kind, lane, number, payload):
        if kind == PING:
            if payload == b"\1":
                self.agent.touch()
            self.send(PONG, 0, 0, b"", urgent=True)
        elif kind == REQUEST:
            self.hear_request(number, payload)
        elif kind == CLOSE:
            self.connection_closed(number)
        elif number not in self.streams:
            if number > (self.last_stream if number < FIRST_OWN_STREAM else self.last_own) or not self.greeted:
                raise ProtocolError("a frame for stream %d, which was never opened" % number)
        else:
            self.hear_on(self.streams[number], kind, lane, payload)

    @staticmethod
    def hear_on(stream, kind, number, payload):
        lane = stream.lanes.get(number)
        if lane is None:
            raise ProtocolError("stream %d has no lane %d" % (stream.number, number))
        inwards = number in TO_AGENT_LANES
        try:
            if kind == CANCEL:
                lane.cancel()
            elif kind == CREDIT and not inwards and len(payload) == 4:
                lane.grant(int.from_bytes(payload, "big"))
            elif kind == DATA and inwards and payload:
                lane.data(payload)
            elif kind == END and inwards and len(payload) == 8:
                lane.end(int.from_bytes(payload, "big"))
            else:
                raise ProtocolError("a frame of type %d on lane %d with %d bytes" % (kind, number, len(payload)))
        except ProtocolError:
            raise
        except Exception as error:
            stream.broken(error)

    def hear_request(self, number, payload):
        try:
            request = from_json(payload)
        except ValueError as error:
            raise ProtocolError("a request that is no JSON: %s" % error) from error
        if not isinstance(request, dict) or not isinstance(request.get("op"), str):
            raise ProtocolError("a request without an op")
        greeting = request["op"] == "hello"
        if greeting != (number == 0) or self.greeted == greeting:
            raise ProtocolError("hello comes first and once, on stream 0")
        if number:
            if not self.last_stream < number < FIRST_OWN_STREAM:
                raise ProtocolError("stream %d was used before" % number)
            self.last_stream = number
        # To ask how long it lives is no use of it.
        if request["op"] != "info":
            self.agent.touch()
        self.serve(number, request)

    def serve(self, number, request):
        stream = STREAMS.get(request["op"], Stream)(self, number)
        self.streams[number] = stream
        try:
            if len(self.streams) > MAX_STREAMS:
                raise Failure(errno.EAGAIN, "%d streams are open already" % MAX_STREAMS)
            if type(stream) is Stream:
                self.serve_at_once(stream, request)
            else:
                stream.start(request)
        except ProtocolError:
            raise
        except Exception as error:
            stream.broken(error)
        stream.settle()

    def serve_at_once(self, stream, request):
        op = request["op"]
        agent = self.agent
        if op in FILES:
            stream.respond(FILES[op](request))
        elif op == "hello":
            stream.respond(agent.hello(request, self))
            self.greeted = True
        elif op == "kill":
            self.kill(stream, request)
        elif op == "resize":
            process, size = self.process(request), size_fields(request)
            if process is not None:
                process.resize(*size)
            stream.respond({})
        elif op == "info":
            stream.respond(agent.info())
        elif op == "code":
            stream.respond(agent.code())
        elif op == "extend":
            agent.extend(seconds_field(request, "ttlMs"))
            stream.respond({})
        elif op == "ready":
            agent.ready(self)
            stream.respond({})
        elif op == "shutdown":
            stream.respond({})
            agent.end("shutdown", "the host asked for it")
        else:
            raise Failure(errno.ENOSYS, "no operation %r" % op[:100])

    def process(self, request):
        """The process of a request; None when it is over."""
        number = number_field(request, "process", 1, self.last_stream)
        process = self.streams.get(number)
        if process is not None and not isinstance(process, Process):
            raise Failure(errno.EINVAL, "stream %d is no process" % number)
        return process

    def kill(self, stream, request):
        process, number, scope = self.process(request), signal_field(request), field(request, "scope", str)
        if scope not in ("tree", "group"):
            raise Failure(errno.EINVAL, "kill: no scope %r" % scope)
        if process is None:
            stream.respond({})
        else:
            process.kill(number, scope, lambda: stream.respond({}))

    def has_turn(self):
        """Whether a program may make a connection more."""
        return len(self.connections) < MAX_CONNECTIONS

    def accepted(self, connection):
        """Opens a stream for what a program has connected to."""
        self.last_own += 1
        stream = AcceptedConnection(self, self.last_own)
        self.streams[stream.number] = stream
        self.connections.add(stream.number)
        self.send(OPEN, 0, stream.number, b"", urgent=True)
        stream.begin(connection)

    def connection_closed(self, number):
        stream = self.streams.get(number)
        if number not in self.connections or (stream is not None and stream.host_is_done):
            raise ProtocolError("stream %d cannot be closed" % number)
        if stream is None:
            self.connection_over(number)
        else:
            stream.host_is_done = True

    def connection_over(self, number):
        self.connections.discard(number)
        self.agent.gateway.turn()

    def over(self, stream):
        if self.streams.get(stream.number) is stream:
            del self.streams[stream.number]

    def broken(self, error):
        """Nothing of one stream: the agent cannot go on."""
        raise error

    def has_room(self, lane):
        if self.queued < MAX_QUEUED or self.closed:
            return True
        self.waiting.add(lane)
        return False

    def send(self, kind, lane, number, payload, urgent=False, hurry=True):
        if self.closed:
            return
        frame = text_frame if self.decoder.framing == b"t" else binary_frame
        pieces = frame(kind, lane, number, payload)
        if urgent:
            self.urgent.append(pieces)
        else:
            self.bulk.append(pieces)
            self.queued += sum(map(len, pieces))
        if hurry:
            self.agent.unflushed.add(self)
        elif self.held is None:
            self.held = self.agent.loop.after(HELD_SECONDS, lambda: self.agent.unflushed.add(self))

    def fill_batch(self):
        size = 0
        while len(self.batch) < MAX_BATCH and size < MAX_BATCH_BYTES:
            if self.urgent:
                pieces = self.urgent.popleft()
            elif self.bulk:
                pieces = self.bulk.popleft()
                self.queued -= sum(map(len, pieces))
            else:
                break
            self.batch += [piece for piece in pieces if piece]
            size += sum(map(len, pieces))

    def flush(self):
        """Writes what can be written now."""
        if self.held is not None:
            self.agent.loop.cancel(self.held)
            self.held = None
        while not self.closed:
            if not self.batch:
                self.fill_batch()
                if not self.batch:
                    break
            try:
                written = os.writev(self.sink, self.batch)
            except BlockingIOError:
                break
            except OSError:
                # Nobody reads any more.
                self.agent.client_left(self)
                return
            self.written(written)
        if not self.closed:
            self.watch(bool(self.batch))
            if self.waiting and self.queued < MAX_QUEUED:
                waiting, self.waiting = self.waiting, set()
                for lane in waiting:
                    lane.wake()

    def written(self, count):
        batch = self.batch
        done = 0
        while done < len(batch) and count >= len(batch[done]):
            count -= len(batch[done])
            done += 1
        del batch[:done]
        if count:
            batch[0] = memoryview(batch[0])[count:]

    def say_no_more(self):
        """Of a client at a socket: it reads to the end, and leaves."""
        channel = socket.socket(fileno=self.sink)
        try:
            channel.shutdown(socket.SHUT_WR)
        except OSError:
            # It has left already.
            pass
        channel.detach()

    def farewell(self, message):
        self.send(FAREWELL, 0, 0, message, urgent=True)

    def close(self):
        """Its processes live on, or not: that is the agent's to say. What it had asked of files is given up."""
        if self.closed:
            return
        self.closed = True
        for descriptor in {self.source, self.sink}:
            self.agent.loop.forget(descriptor)
            os.close(descriptor)
        self.urgent.clear()
        self.bulk.clear()
        for stream in list(self.streams.values()):
            stream.client_left()
