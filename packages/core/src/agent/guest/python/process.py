"""A spawn: one program under a supervisor, its lanes, its end."""

import errno
import fcntl
import os
import struct

import _signal as signal

from .crew import no_room
from .lanes import ControlOutput, OutLane, ProgramInput, ProgramOutput
from .native import Failure, encoded, environment_field, field, number_field, path_field, seconds_field
from .stream import Stream
from .users import user_field
from .wire import END, LANE_CONTROL_IN, LANE_CONTROL_OUT, LANE_ERR, LANE_IN, LANE_OUT

TIOCSWINSZ = 0x5414
CWD_ERRORS = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENAMETOOLONG, errno.ELOOP))
SIGNALS = {
    name: number for name, number in vars(signal).items() if name.startswith("SIG") and name[3].isalpha()
}
NAMES = {int(number): name for name, number in SIGNALS.items() if name not in ("SIGCLD", "SIGPOLL")}


class NoOutput(OutLane):
    """Lane `err` of a program that has none of its own: ends as soon as the program runs."""

    descriptor = None

    def wake(self):
        """Nothing is ever sent."""

    def close(self):
        self.end()


def signal_name(number):
    if number in NAMES:
        return NAMES[number]
    return "SIGRTMIN+%d" % (number - signal.SIGRTMIN) if number > signal.SIGRTMIN else "SIG%d" % number


def resize_terminal(descriptor, columns, rows):
    fcntl.ioctl(descriptor, TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def signal_field(request):
    name = field(request, "signal", str)
    if name not in SIGNALS:
        raise Failure(errno.EINVAL, "kill: no signal %r" % name)
    return int(SIGNALS[name])


def size_fields(request):
    return number_field(request, "columns", 1, 0xFFFF), number_field(request, "rows", 1, 0xFFFF)


class Process(Stream):
    def __init__(self, client, number):
        super().__init__(client, number)
        self.handle = None
        self.pid = 0
        self.terminal = None
        self.is_gone = False
        self.exit_told = False
        self.killed = False
        self.is_kernel = False
        # Ends it, should nobody else do in time.
        self.limit = None
        self.status = None
        self.tickets = {}
        self.given = []
        self.oom_kills = 0
        # Gives back what is held of the order of descriptor 4.
        self.control = None

    def send(self, kind, lane, payload, urgent=False):
        if kind == END and not self.exit_told:
            # The end of the program is most likely next, and takes it along.
            if not self.silent:
                self.client.send(kind, lane, self.number, payload, hurry=False)
        else:
            super().send(kind, lane, payload, urgent)

    def start(self, request):
        command = [encoded(word) for word in field(request, "command", list)]
        if not command:
            raise Failure(errno.EINVAL, "spawn: 'command' is empty")
        cwd = path_field(request, "cwd", optional=True)
        user, login = user_field(request)
        env = {**self.agent.env, **login, **environment_field(request, "env")}
        self.is_kernel = field(request, "control", bool)
        deadline = seconds_field(request, "deadlineMs", optional=True)
        self.oom_kills = self.agent.memory.kills()
        try:
            terminal = self.open_lanes(request)
            self.agent.compiled = None
            message = ("spawn", cwd or self.agent.workdir, command, env, terminal, user)
            self.handle = self.agent.crew.assign(self, message, self.given)
        except OSError as error:
            self.drop_lanes()
            raise no_room(error) from error
        except Failure:
            self.drop_lanes()
            raise
        self.enter(deadline)

    def enter(self, deadline):
        self.agent.enter(self)
        if deadline is not None:
            self.limit = self.agent.loop.after(deadline, self.overdue)

    def leave(self):
        self.agent.leave(self)
        self.agent.loop.cancel(self.limit)

    def overdue(self):
        # What a program that has ended in time has left running may go on.
        if not self.exit_told:
            self.kill(int(signal.SIGKILL), "tree", lambda: None)

    def open_lanes(self, request):
        """Makes the lanes and what the program gets of them; the path of the terminal, if it gets one."""
        path = None
        pty = field(request, "pty", dict, optional=True)
        if pty is not None:
            path = self.open_terminal(*size_fields({"op": "spawn", **pty}), field(request, "stdin", bool))
        else:
            self.open_pipes(field(request, "stdin", bool), field(request, "mergeStderr", bool))
        if self.is_kernel:
            reads, feed = os.pipe()
            self.given.append(reads)
            self.lanes[LANE_CONTROL_IN] = ProgramInput(self, LANE_CONTROL_IN, feed)
            output, writes = os.pipe()
            self.given.append(writes)
            before = [self.lanes[number] for number in (LANE_OUT, LANE_ERR)]
            self.control = ControlOutput(self, LANE_CONTROL_OUT, output, before)
            self.lanes[LANE_CONTROL_OUT] = self.control
        return path

    def open_pipes(self, has_stdin, merge):
        if has_stdin:
            reads, feed = os.pipe()
            self.lanes[LANE_IN] = ProgramInput(self, LANE_IN, feed)
        else:
            reads = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        self.given.append(reads)
        for number in (LANE_OUT, LANE_ERR):
            if number == LANE_ERR and merge:
                self.given.append(self.given[1])
                self.lanes[number] = NoOutput(self, number)
                continue
            output, writes = os.pipe()
            self.given.append(writes)
            self.lanes[number] = ProgramOutput(self, number, output)

    def open_terminal(self, columns, rows, has_stdin):
        try:
            master, slave = os.openpty()
            path = os.ttyname(slave).encode()
        except OSError as error:
            raise Failure(errno.ENOTSUP, "the box gives no terminal: %s" % error.strerror) from error
        self.given += [slave, slave, slave]
        resize_terminal(master, columns, rows)
        self.terminal = master
        self.lanes[LANE_OUT] = ProgramOutput(self, LANE_OUT, master, terminal=True)
        self.lanes[LANE_ERR] = NoOutput(self, LANE_ERR)
        if has_stdin:
            self.lanes[LANE_IN] = ProgramInput(self, LANE_IN, os.dup(master), terminal=True)
        return path

    def close_given(self):
        for descriptor in set(self.given):
            os.close(descriptor)
        self.given = []

    def drop_lanes(self):
        """The program was not started: there are no lanes."""
        self.close_given()
        self.silent = True
        for lane in self.lanes.values():
            lane.close()
        self.silent = False
        self.lanes = {}

    def refuse(self, failure):
        if self.pid == 0:
            # Nothing was started, so that nothing is left.
            self.is_gone = True
        super().refuse(failure)

    def told(self, kind, *values):
        """What the supervisor reports."""
        if kind == "started":
            self.pid = values[0]
            self.close_given()
            self.respond({"pid": self.pid})
            for lane in list(self.lanes.values()):
                if isinstance(lane, NoOutput):
                    lane.end()
        elif kind == "failed":
            self.drop_lanes()
            self.leave()
            failure = Failure(values[0], os.strerror(values[0]))
            self.refuse(failure if values[0] in CWD_ERRORS else no_room(OSError(*values, failure.message)))
        elif kind == "exited":
            self.exited(*values)
        elif kind == "killed":
            answer = self.tickets.pop(values[0], None)
            if answer is not None:
                answer()
        else:
            self.gone()

    def exited(self, code, number, cpu_ms, memory):
        self.exit_told = True
        oom = number == signal.SIGKILL and not self.killed and self.agent.memory.kills() > self.oom_kills
        self.event(
            {
                "event": "exited",
                "code": None if number else code,
                "signal": signal_name(number) if number else None,
                "oom": oom,
                "cpuMs": cpu_ms,
                "peakMemoryBytes": memory,
            }
        )
        for lane in list(self.lanes.values()):
            if isinstance(lane, ProgramOutput):
                lane.leader_ended()
            elif isinstance(lane, ProgramInput):
                lane.close()

    def gone(self):
        self.is_gone = True
        self.event({"event": "gone"})
        for answer in self.tickets.values():
            answer()
        self.tickets.clear()
        for lane in list(self.lanes.values()):
            if isinstance(lane, ProgramOutput):
                lane.tree_gone()
        self.leave()
        self.settle()

    def leader_reaped(self, pid, status, usage):
        """Its supervisor was killed, and the agent collected the leader instead."""
        if pid == self.pid and not self.exit_told:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            cpu = int((usage.ru_utime + usage.ru_stime) * 1000)
            code = os.WEXITSTATUS(status) if number == 0 else -1
            self.status = (code, number, cpu, usage.ru_maxrss * 1024)

    def supervisor_lost(self):
        """Nothing of the tree is left."""
        if self.pid == 0:
            self.drop_lanes()
            self.leave()
            self.refuse(Failure(errno.EAGAIN, "what was to start the program was killed: try again"))
            return
        if self.agent.memory.kills() <= self.oom_kills:
            # By the guest; otherwise its supervisor was taken for memory, and the rest of the tree with it.
            self.killed = True
        if not self.exit_told and self.status is not None:
            self.exited(*self.status)
        if self.exit_told:
            self.gone()
            return
        self.event({"event": "lost", "message": "its supervisor was killed, so that nobody knows how it ended"})
        self.exit_told = True
        for lane in list(self.lanes.values()):
            lane.close()
        self.is_gone = True
        self.leave()
        self.settle()

    def kill(self, number, scope, answer):
        handle = self.handle
        if self.is_gone or handle is None or handle.process is not self:
            # All are dead, or the agent is killing them because their supervisor is.
            answer()
            return
        if number == signal.SIGKILL:
            self.killed = True
        ticket = self.agent.next_ticket()
        self.tickets[ticket] = answer
        try:
            self.agent.crew.say(handle, ("kill", ticket, number, scope))
        except OSError:
            # Its supervisor does not listen: without it the agent ends the tree itself.
            self.agent.crew.dismiss(handle)

    def resize(self, columns, rows):
        if self.terminal is None:
            raise Failure(errno.EINVAL, "the program has no terminal")
        if self.lanes[LANE_OUT].descriptor is not None:
            resize_terminal(self.terminal, columns, rows)

    def released(self):
        """Something of stdout or stderr has been read: descriptor 4 may be next."""
        if self.control is not None:
            self.control.release()

    def client_left(self):
        for lane in list(self.lanes.values()):
            if isinstance(lane, ProgramOutput):
                lane.cancel()
            elif isinstance(lane, ProgramInput):
                lane.close()

    def broken(self, error):
        """A defect of the agent in this stream: its tree cannot be left without its lanes."""
        super().broken(error)
        if self.handle is not None and self.handle.process is self:
            self.agent.crew.dismiss(self.handle)

    def is_over(self):
        return self.is_gone and super().is_over()
