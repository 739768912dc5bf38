"""Where programs of the box find the network that a client serves."""

import errno
import select

import _socket as socket

BACKLOG = 4096
# How long it waits for a descriptor that another connection gives back.
RETRY_SECONDS = 0.1
NO_ROOM = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
NOBODY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    b"sandkit: no client of this sandbox serves its network now: attach to it\n"
)


class Gateway:
    def __init__(self, loop, owner):
        self.loop = loop
        self.owner = owner
        self.listener = None
        self.port = None
        # Clients that have offered; the first one serves.
        self.servers = []
        self.is_tired = False

    def serve(self, client, port):
        if self.listener is None:
            self.listen(port)
        elif port != self.port:
            raise OSError(errno.EADDRINUSE, "the network is served on port %d already" % self.port)
        if client not in self.servers:
            self.servers.append(client)
        self.turn()

    def listen(self, port):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
        self.listener, self.port = listener, port

    def left(self, client):
        if client in self.servers:
            self.servers.remove(client)
            self.turn()

    def turn(self):
        """Listens as long as who serves takes more; when nobody does, to say so."""
        if self.listener is not None:
            waits = self.is_tired or (self.servers and not self.servers[0].has_turn())
            self.loop.watch(self.listener.fileno(), 0 if waits else select.POLLIN, self.owner, self.accept)

    def accept(self, _mask):
        try:
            descriptor, _ = self.listener._accept()
        except OSError as error:
            if error.errno in NO_ROOM:
                self.is_tired = True
                self.loop.after(RETRY_SECONDS, self.recovered)
                self.turn()
            # Otherwise it has left again.
            return
        connection = socket.socket(fileno=descriptor)
        if self.servers:
            self.servers[0].accepted(connection)
            self.turn()
        else:
            self.decline(connection)

    def recovered(self):
        self.is_tired = False
        self.turn()

    @staticmethod
    def decline(connection):
        try:
            connection.setblocking(False)
            connection.send(NOBODY)
        except OSError:
            # It has left again.
            pass
        connection.close()
