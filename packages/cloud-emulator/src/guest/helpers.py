"""Starts the other programs of this folder by forking, which saves starting Python again, and carries their streams.

Frames both ways: the number of a helper (4 bytes, big endian), a kind (1 byte), a length (4 bytes), a payload.
In:  S sources (JSON, once, first)  O open (JSON: name and arguments)  D data  E end of data  W room for so many bytes more
     (4 bytes)  K kill
Out: R ready (once, first)  D data  E over  T so many bytes of data taken (4 bytes)

A helper has a socket for both its stdin and its stdout. Nothing is read from it unless the host has given room.
"""

# Loaded once for all helpers.
import ctypes
import errno
import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import sys
import termios

CHUNK = 65536
HEAD = struct.Struct(">IcI")
KEPT = (ctypes, errno, fcntl, pty, termios)


def read_exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


def write_all(data):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


class Helper:
    def __init__(self, number, pid, link):
        self.number = number
        self.pid = pid
        self.link = link
        self.room = 0
        self.held = bytearray()
        self.ending = False

    def flush(self):
        """Hands over what it takes now."""
        taken = 0
        try:
            while self.held:
                sent = self.link.send(self.held)
                del self.held[:sent]
                taken += sent
            if self.ending:
                self.link.shutdown(socket.SHUT_WR)
                self.ending = False
        except BlockingIOError:
            pass
        except OSError:
            taken += len(self.held)
            self.held.clear()
            self.ending = False
        if taken:
            write_all(HEAD.pack(self.number, b"T", 4) + taken.to_bytes(4, "big"))


class Server:
    def __init__(self, codes):
        self.codes = codes
        self.helpers = {}

    def open(self, number, name, arguments):
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self.become(theirs, name, arguments)
        theirs.close()
        mine.setblocking(False)
        self.helpers[number] = Helper(number, pid, mine)

    def become(self, link, name, arguments):
        try:
            os.dup2(link.fileno(), 0)
            os.dup2(link.fileno(), 1)
            os.closerange(3, 65536)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            sys.argv = [name, *arguments]
            exec(self.codes[name], {"__name__": "__main__"})
        finally:
            os._exit(0)

    def obey(self):
        number, kind, length = HEAD.unpack(read_exactly(HEAD.size))
        payload = read_exactly(length)
        if kind == b"O":
            self.open(number, *json.loads(payload))
        helper = self.helpers.get(number)
        if helper is None:
            return
        if kind == b"D":
            helper.held += payload
            helper.flush()
        elif kind == b"E":
            helper.ending = True
            helper.flush()
        elif kind == b"W":
            helper.room += int.from_bytes(payload, "big")
        elif kind == b"K":
            os.kill(helper.pid, signal.SIGKILL)

    def read(self, helper):
        try:
            data = helper.link.recv(min(CHUNK, helper.room))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            helper.room -= len(data)
            write_all(HEAD.pack(helper.number, b"D", len(data)) + data)
            return
        helper.link.close()
        del self.helpers[helper.number]
        write_all(HEAD.pack(helper.number, b"E", 0))

    def run(self):
        while True:
            poller = select.poll()
            poller.register(0, select.POLLIN)
            waiting = []
            for helper in self.helpers.values():
                wanted = (select.POLLIN if helper.room > 0 else 0) | (select.POLLOUT if helper.held or helper.ending else 0)
                if wanted:
                    poller.register(helper.link, wanted)
                    waiting.append((helper.link.fileno(), helper))
            ready = dict(poller.poll())
            for descriptor, helper in waiting:
                if ready.get(descriptor, 0) & select.POLLOUT:
                    helper.flush()
                if helper.room > 0 and ready.get(descriptor, 0) & ~select.POLLOUT:
                    self.read(helper)
            if 0 in ready:
                self.obey()


def main():
    # `kill 0` in a program reaches this one too: all of the box share one group, as they share envd's.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _, _, length = HEAD.unpack(read_exactly(HEAD.size))
    sources = json.loads(read_exactly(length))
    server = Server({name: compile(source, name + ".py", "exec") for name, source in sources.items()})
    write_all(HEAD.pack(0, b"R", 0))
    server.run()


main()
