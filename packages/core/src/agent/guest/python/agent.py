"""The guest agent of Sandkit: one program in the box that gives a host exec, files and clean-up over one byte stream.

    agent.py                         attached: stdin and stdout are the channel, and all ends with it
    agent.py detached [UID [NAME]]   clients come over the abstract socket of this name; only root and this user are heard

protocol.ts is the specification. The agent starts before anything of the guest does and has the same user: it makes
itself unreadable first, and the programs that it starts are to die before it when memory runs out.
"""

import errno
import os
import select
import struct
import sys
import time

import _signal as signal
import _socket as socket

from .client import Client
from .crew import Crew, OomScore
from .gateway import Gateway
from .files import make_directories, shown
from .loop import Loop
from .memory import MemoryKills
from .native import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, Failure, environment_field, field, number_field
from .native import path_field, prctl, seconds_field, to_json
from .users import may_become_others

SOCKET_NAME = "sandkit-agent"
VERSION = 1
MAX_CLIENTS = 64
# Until a first client says how long a lease is.
FIRST_LEASE_SECONDS = 300
# How long the last words may take.
FAREWELL_SECONDS = 0.5
SPARE_SECONDS = 0.003
# A turn that ends so much too late was not late by work: the box stood still.
STANDSTILL_SECONDS = 2
SHELLS, INTERPRETERS, PROGRAMS = ("sh", "bash"), ("python3", "node"), ("git",)


class Agent:
    def __init__(self, oom_score, compiled):
        self.loop = Loop()
        self.crew = Crew(self.loop, oom_score)
        self.memory = MemoryKills()
        self.gateway = Gateway(self.loop, self.crew)
        # Until a program of the box has run.
        self.compiled = compiled
        self.env = dict(os.environb)
        self.workdir = b"/"
        self.clients = []
        self.unflushed = set()
        self.users = set()
        self.tickets = 0
        self.started_at = int(time.time() * 1000)
        self.greeted = False
        # Who still sets the box up.
        self.maker = None
        self.listener = None
        self.ends_at = None
        self.idle_seconds = None
        self.lease_seconds = FIRST_LEASE_SECONDS
        self.last_use = self.last_left = time.monotonic()
        self.ending = None
        self.exit_code = 0

    def hello(self, request, client):
        if number_field(request, "version") != VERSION:
            raise Failure(errno.EPROTONOSUPPORT, "this agent speaks version %d" % VERSION)
        if not self.greeted and request.get("joins") is not True:
            self.settle_in(request, client)
        network = field(request, "network", dict, optional=True)
        if network is not None:
            self.gateway.serve(client, number_field({"op": "hello", **network}, "port", 1, 0xFFFF))
        return {
            "version": VERSION,
            "runtime": "python %d.%d.%d" % sys.version_info[:3],
            "killTree": "native",
            "pty": os.path.exists("/dev/ptmx"),
            "watch": True,
            "user": may_become_others(),
            "workdir": shown(self.workdir),
            "startedAt": self.started_at,
            "settingUp": not self.greeted or self.maker not in (None, client),
        }

    def settle_in(self, request, client):
        workdir, env = path_field(request, "workdir"), environment_field(request, "env")
        ttl, idle, lease = (seconds_field(request, name, optional=True) for name in ("ttlMs", "idleMs", "leaseMs"))
        folders = [path_field({"op": "hello", "path": folder}, "path") for folder in field(request, "directories", list)]
        for folder in [workdir, *folders]:
            try:
                make_directories(folder)
            except (OSError, Failure) as error:
                failure = Failure.of(error)
                failure.path = shown(folder)
                raise failure from error
        self.workdir = workdir
        self.env.update(env)
        if ttl is not None:
            self.extend(ttl)
        self.idle_seconds = idle
        if lease is not None:
            self.lease_seconds = lease
        if self.listener is not None and request.get("settingUp") is True:
            self.maker = client
        self.greeted = True

    def ready(self, client):
        if client is self.maker:
            self.maker = None

    def info(self):
        folders = [folder or b"." for folder in self.env.get(b"PATH", b"").split(b":")]

        def found(names):
            paths = {name: [folder + b"/" + name.encode() for folder in folders] for name in names}
            return [name for name in names if any(os.access(path, os.X_OK) for path in paths[name])]

        ends = [end for end in (self.ends_at, self.idle_end()) if end is not None]
        expires = int((time.time() + min(ends) - time.monotonic()) * 1000) if ends else None
        return {
            "shells": found(SHELLS),
            "interpreters": found(INTERPRETERS),
            "programs": found(PROGRAMS),
            "expiresAt": expires,
        }

    def code(self):
        if self.compiled is None:
            raise Failure(errno.EPERM, "code: asked for too late, or of an agent that was compiled elsewhere")
        return {"code": self.compiled()}

    def extend(self, seconds):
        self.ends_at = time.monotonic() + seconds

    def idle_end(self):
        """When idleness will have lasted too long, if nothing happens from now on."""
        if self.idle_seconds is None:
            return None
        return (time.monotonic() if self.users else self.last_use) + self.idle_seconds

    def touch(self):
        self.last_use = time.monotonic()

    def enter(self, stream):
        """A program, or work on files, counts as use while it lasts; a kernel does not."""
        if not getattr(stream, "is_kernel", False):
            self.users.add(stream)

    def leave(self, stream):
        self.users.discard(stream)
        self.touch()

    def next_ticket(self):
        self.tickets += 1
        return self.tickets

    def attach(self, source, sink):
        self.clients.append(Client(self, source, sink))

    def listen(self, uid=0, name=SOCKET_NAME):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(b"\0" + name.encode())
        self.listener.listen(MAX_CLIENTS)
        self.listener.setblocking(False)
        allowed = {0, int(uid)}

        def accept(_mask):
            try:
                descriptor, _ = self.listener._accept()
            except OSError:
                # It has left again, or there is no descriptor for it: it can try again.
                return
            peer = socket.socket(fileno=descriptor)
            _, peer_uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if peer_uid in allowed and len(self.clients) < MAX_CLIENTS:
                descriptor = peer.detach()
                self.attach(descriptor, descriptor)
            else:
                peer.close()

        self.loop.watch(self.listener.fileno(), select.POLLIN, self.crew, accept)

    def client_left(self, client):
        if client not in self.clients:
            return
        self.clients.remove(client)
        client.close()
        self.gateway.left(client)
        self.last_left = time.monotonic()
        if self.listener is None:
            self.ending = self.ending or "eof"
        elif client is self.maker:
            self.end("shutdown", "who made the sandbox left before it was set up")

    def protocol_broken(self, client, message):
        """One client's fault ends that client; an attached agent has no other."""
        client.farewell(to_json({"reason": "protocol", "message": message}).encode())
        client.flush()
        if self.listener is None:
            self.ending = self.ending or "protocol"
        else:
            self.client_left(client)

    def end(self, reason, message):
        if self.ending is None:
            self.ending = reason
            for client in self.clients:
                client.farewell(to_json({"reason": reason, "message": message}).encode())

    def deadlines(self):
        """When the agent will end by itself, and the reason."""
        if self.ends_at is not None:
            yield self.ends_at, "ttl", "the time to live is over"
        if self.idle_seconds is not None and not self.users:
            yield self.last_use + self.idle_seconds, "idle", "nothing was asked for %g s" % self.idle_seconds
        if self.listener is not None and not self.clients:
            yield self.last_left + self.lease_seconds, "lease", "no client for %g s" % self.lease_seconds

    def check_life(self):
        now = time.monotonic()
        for when, reason, message in self.deadlines():
            if now >= when:
                self.end(reason, message)

    def forgive(self, planned):
        """While the box stood still nobody could come or ask for anything: that time counts for the time to live alone."""
        late = 0 if planned is None else time.monotonic() - planned
        if late > STANDSTILL_SECONDS:
            self.last_use += late
            self.last_left += late

    def next_deadline(self):
        ends = [when for when, _, _ in self.deadlines()]
        if self.crew.needs_spare():
            # Forked once there is nothing else to do.
            ends.append(time.monotonic() + SPARE_SECONDS)
        return min(ends, default=None)

    def flush(self):
        while self.unflushed:
            self.unflushed.pop().flush()

    def run(self):
        while self.ending is None:
            planned = self.next_deadline()
            busy = self.loop.turn(planned)
            self.forgive(planned)
            self.flush()
            if not busy and self.crew.needs_spare():
                self.crew.make_spare()
            self.check_life()
        self.finish()

    def finish(self):
        """The last words, as far as somebody listens, then the end of everything in the box."""
        deadline = time.monotonic() + FAREWELL_SECONDS
        for client in list(self.clients):
            while not client.closed and (client.urgent or client.batch) and time.monotonic() < deadline:
                waiting = select.poll()
                waiting.register(client.sink, select.POLLOUT)
                waiting.poll(max(0, (deadline - time.monotonic()) * 1000))
                client.flush()
        if self.listener is not None:
            self.wait_for_bridges(deadline)
        for client in list(self.clients):
            self.client_left(client)
        # The end of PID 1 is the end of all.
        if os.getpid() != 1 and not self.crew.end_all():
            os.write(2, b"sandkit agent: processes of the box do not end\n")
            self.exit_code = 1

    def wait_for_bridges(self, deadline):
        """What carries the last words out is a process of the box too, and would end with PID 1 before it has."""
        leaving = select.poll()
        there = {client.source for client in self.clients}
        for client in self.clients:
            client.say_no_more()
            leaving.register(client.source, 0)
        while there and time.monotonic() < deadline:
            for descriptor, _ in leaving.poll(max(0, (deadline - time.monotonic()) * 1000)):
                leaving.unregister(descriptor)
                there.discard(descriptor)

    def catch_signals(self):
        def shut_down(_number, _frame):
            self.end("shutdown", "the agent was told to end by a signal")

        def ring(_number, _frame):
            """The wakeup descriptor tells the loop; a signal without a handler would not be written there."""

        handlers = {signal.SIGCHLD: ring, signal.SIGINT: signal.SIG_IGN}
        # The first process of a box gets no signal that it has no handler for: so its programs cannot end it.
        if os.getpid() != 1:
            handlers.update({signal.SIGTERM: shut_down, signal.SIGHUP: shut_down})
        self.loop.catch_signals(handlers)

        def woken(_mask):
            os.read(self.loop.signals, 4096)
            self.crew.reap()

        self.loop.watch(self.loop.signals, select.POLLIN, self.crew, woken)


def make_raw(terminal):
    import termios

    state = termios.tcgetattr(terminal)
    state[0] = state[1] = state[3] = 0
    state[2] = state[2] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
    state[6][termios.VMIN], state[6][termios.VTIME] = 1, 0
    termios.tcsetattr(terminal, termios.TCSANOW, state)


def take_channel():
    """The channel under numbers of its own: nothing that is written to stdout by accident may reach the host."""
    if os.isatty(0):
        make_raw(0)
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return source, sink


def main(arguments, compiled):
    oom_score = OomScore()
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.umask(0o022)
    agent = Agent(oom_score, compiled)
    agent.catch_signals()
    if arguments[:1] == ["detached"]:
        agent.listen(*arguments[1:])
    else:
        agent.attach(*take_channel())
    try:
        agent.run()
    except BaseException:
        # The end of the agent must be the end of the box, also when the agent is at fault.
        sys.excepthook(*sys.exc_info())
        if os.getpid() != 1:
            agent.crew.end_all()
        os._exit(70)
    os._exit(agent.exit_code)

