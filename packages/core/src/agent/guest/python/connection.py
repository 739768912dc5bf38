"""Connections between the box and its host: a socket in the box, and a lane of a stream for each of its directions."""

import errno
import select
import struct

import _socket as socket

from .lanes import CHUNK, InLane, OutLane
from .native import Failure, number_field
from .stream import Stream
from .wire import LANE_IN, LANE_OUT

# Closed so, a socket sends a reset.
RESET = struct.pack("ii", 1, 0)
PEERS = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))


class SocketInput(InLane):
    """What the host sends. At most one window waits here for the socket."""

    def __init__(self, connection):
        super().__init__(connection, LANE_IN)
        self.waiting = []
        self.shut = False

    def arrived(self, payload):
        # As good as a request.
        self.stream.agent.touch()
        self.waiting.append(memoryview(payload))
        self.write()

    def finished(self):
        self.write()

    def write(self):
        """Hands on what the socket takes now."""
        try:
            while self.waiting:
                written = self.stream.socket.send(self.waiting[0])
                rest = self.waiting[0][written:]
                if rest:
                    self.waiting[0] = rest
                else:
                    self.waiting.pop(0)
                self.handed_on(written)
            if self.ended and not self.shut:
                self.shut = True
                self.stream.socket.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            pass
        except OSError:
            # The other end reads no more; what it has sent before can be read still.
            self.give_up()
        self.stream.watch()

    def give_up(self):
        self.waiting.clear()
        self.refuse()

    def cancel(self):
        self.stream.break_off()

    def is_over(self):
        return self.refused or self.shut


class SocketOutput(OutLane):
    """What the other end of the socket sends."""

    def __init__(self, connection):
        super().__init__(connection, LANE_OUT)

    def wake(self):
        if self.cancelled:
            self.end()
        self.stream.watch()

    def read(self):
        if self.ended or not self.has_room():
            return
        try:
            data = self.stream.socket.recv(min(CHUNK, self.credit))
        except BlockingIOError:
            return
        except OSError:
            self.stream.broke()
            return
        if data:
            self.stream.agent.touch()
            self.send(data)
        else:
            self.end()


class Connection(Stream):
    """A socket whose bytes go to the host, and the host's to it."""

    socket = None

    def begin(self, connection):
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self.input = self.lanes[LANE_IN] = SocketInput(self)
        self.output = self.lanes[LANE_OUT] = SocketOutput(self)
        self.watch()

    def watch(self):
        if self.socket is None:
            return
        reads = not self.output.ended and self.output.has_room()
        mask = (select.POLLIN if reads else 0) | (select.POLLOUT if self.input.waiting else 0)
        self.agent.loop.watch(self.socket.fileno(), mask, self, self.ready)
        self.settle()

    def ready(self, mask):
        if mask & ~select.POLLIN and self.input.waiting:
            self.input.write()
        if self.socket is not None and mask & ~select.POLLOUT:
            self.output.read()
            self.watch()

    def broke(self):
        """The other end has reset it: nothing more comes, and nobody is to take what came for all."""
        self.input.give_up()
        self.output.end(missing=1)

    def break_off(self):
        """The host gives it up."""
        if self.socket is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.input.waiting.clear()
            self.input.ended = self.input.shut = True
            self.output.end()
            self.settle()

    def settle(self):
        if self.socket is not None and self.is_over():
            self.drop()
        if self.socket is None:
            super().settle()

    def drop(self):
        self.agent.loop.forget(self.socket.fileno())
        self.socket.close()
        self.socket = None

    def broken(self, error):
        super().broken(error)
        if self.socket is not None:
            self.drop()

    def client_left(self):
        if self.socket is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.drop()


class AcceptedConnection(Connection):
    """Made by a program of the box, to reach what is outside."""

    host_is_done = False

    def __init__(self, client, number):
        super().__init__(client, number)
        # Nobody has asked for it.
        self.answered = True

    def drop(self):
        super().drop()
        if self.host_is_done:
            self.client.connection_over(self.number)


class HostConnection(Connection):
    """Made by the host, to reach a server in the box."""

    pending = None

    def start(self, request):
        port = number_field(request, "port", 1, 0xFFFF)
        self.attempt(port, list(PEERS))

    def attempt(self, port, peers, failure=None):
        while peers:
            family, address = peers.pop(0)
            try:
                peer = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
            except OSError as error:
                failure = failure or error
                continue
            number = peer.connect_ex((address, port))
            if number == 0:
                self.connected(peer)
                return
            if number == errno.EINPROGRESS:
                self.pending = peer
                self.agent.loop.watch(
                    peer.fileno(), select.POLLOUT, self, lambda _mask: self.decided(port, peers, failure)
                )
                return
            peer.close()
            failure = failure or OSError(number, "connect")
        raise Failure(failure.errno, "nothing listens on port %d of 127.0.0.1 or ::1" % port)

    def decided(self, port, peers, failure):
        peer, self.pending = self.pending, None
        self.agent.loop.forget(peer.fileno())
        number = peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number == 0:
            self.connected(peer)
        else:
            peer.close()
            self.attempt(port, peers, failure or OSError(number, "connect"))

    def connected(self, peer):
        self.begin(peer)
        self.respond({})

    def client_left(self):
        super().client_left()
        self.stopped = True
        if self.pending is not None:
            self.agent.loop.forget(self.pending.fileno())
            self.pending.close()
            self.pending = None
