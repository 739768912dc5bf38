"""Runs one program at a time and owns every process that grows from it: a process of its own, a fork of the agent.

It shares nothing with the agent but a socket. To it: `spawn`, with descriptors, and `kill`. From it, a list of what there
is to tell: `started PID` or `failed ERRNO`, then `exited CODE SIGNAL CPU_MS MEMORY_BYTES`, `killed ID` for every kill,
and `gone` when no process of the tree is left; then it is ready for the next program. End of file: the agent is dead, and the tree has to follow.
"""

import errno
import fcntl
import marshal
import os
import select

import _signal as signal
import _socket as socket

from .native import PR_SET_CHILD_SUBREAPER, prctl
from .tree import Strays, descendants, kill_each, signal_each

MESSAGE = 128 * 1024
# Descriptors below are those of programs.
FIRST_OWN = 10
MAX_DESCRIPTORS = 8
REPEAT_MS = 10
# How often strays are looked for, whose end nobody is told.
STRAYS_MS = 50
OOM_PROGRAM = b"1000"
MAX_OFFERS, OFFER_MS = 50, 2
MSG_CMSG_CLOEXEC = 0x40000000
RESET_SIGNALS = frozenset(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}


def candidates(name, env):
    if b"/" in name:
        return [name]
    folders = env.get(b"PATH", b"").split(b":") if name else []
    return [(folder or b".") + b"/" + name for folder in folders]


def offer_to_oom_killer(pid):
    """Makes a process the first to die when memory runs out. False when it cannot be written to (now)."""
    try:
        descriptor = os.open("/proc/%d/oom_score_adj" % pid, os.O_WRONLY)
    except OSError:
        # Never, for a program that its own user may not read: it keeps the score of a supervisor, above the agent's.
        return False
    try:
        os.write(descriptor, OOM_PROGRAM)
    except OSError:
        # It has ended.
        return False
    finally:
        os.close(descriptor)
    return True


class NoProgram(Exception):
    """The program cannot be executed: what to say on its stderr, and the exit code for it."""

    def __init__(self, name, number):
        reason = b"command not found" if number == errno.ENOENT else os.strerror(number).encode()
        super().__init__(reason)
        self.text = b"sandkit: " + name + b": " + reason + b"\n"
        self.code = 127 if number == errno.ENOENT else 126


def start(argv, env, actions):
    """Starts the program in a session of its own and gives its number. Raises NoProgram; OSError when there is no room."""
    problem = errno.ENOENT
    for candidate in candidates(argv[0], env):
        if not os.access(candidate, os.F_OK):
            # Looking is far cheaper than a process that fails.
            continue
        try:
            return os.posix_spawn(
                candidate, argv, env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=RESET_SIGNALS
            )
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.ENOMEM):
                raise
            # The file is there: when something is missing, it is the interpreter of its first line.
            problem = errno.ENOEXEC if error.errno in (errno.ENOENT, errno.ENOTDIR) else error.errno
    raise NoProgram(argv[0], problem)


def start_as(user, argv, env, actions):
    """Like `start`, as another user (uid, gid, groups), which posix_spawn cannot become."""
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            become_program(user, argv, env, actions)
        except OSError as error:
            os.write(writes, b"%d" % error.errno)
        finally:
            os._exit(70)
    os.close(writes)
    # Closed by the program's start.
    failure = os.read(reads, 16)
    os.close(reads)
    if not failure:
        return pid
    os.waitpid(pid, 0)
    number = int(failure)
    if number in (errno.EAGAIN, errno.ENOMEM):
        raise OSError(number, os.strerror(number))
    raise NoProgram(argv[0], number)


def become_program(user, argv, env, actions):
    """The child's side: raises OSError when there is no such program."""
    os.setsid()
    for kind, target, *values in actions:
        if kind == os.POSIX_SPAWN_OPEN:
            path, flags, mode = values
            os.dup2(os.open(path, flags, mode), target)
        else:
            # Of a copy: the source comes first.
            os.dup2(target, values[0])
    signal.set_wakeup_fd(-1)
    for number in RESET_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    uid, gid, groups = user
    os.setgroups(groups)
    os.setgid(gid)
    os.setuid(uid)
    problem = errno.ENOENT
    for candidate in candidates(argv[0], env):
        try:
            os.execve(candidate, argv, env)
        except OSError as error:
            if os.access(candidate, os.F_OK):
                problem = errno.ENOEXEC if error.errno == errno.ENOENT else error.errno
    raise OSError(problem, os.strerror(problem))


class Supervisor:
    def __init__(self, control, strays):
        self.control = control
        # None, where this process is its tree's subreaper.
        self.strays = strays
        self.reports = []
        self.leader = 0
        self.reaped = False
        self.alive = False
        self.killing = False
        self.owned = True
        # How often the leader is still to be tried to offer.
        self.offers = 0

    def tell(self, *report):
        self.reports.append(report)

    def report(self):
        """All of a turn in one message: each wakes the agent, its engine and its host."""
        if not self.reports:
            return
        try:
            self.control.send(marshal.dumps(self.reports))
        except ConnectionError:
            self.disown()
        self.reports = []

    def disown(self):
        self.owned = False
        self.killing = True

    def receive(self):
        space = socket.CMSG_SPACE(MAX_DESCRIPTORS * 4)
        data, ancillary, _, _ = self.control.recvmsg(MESSAGE, space, MSG_CMSG_CLOEXEC)
        descriptors = []
        for _, _, packed in ancillary:
            descriptors += [int.from_bytes(packed[at : at + 4], "little") for at in range(0, len(packed), 4)]
        return data, descriptors

    def obey(self):
        data, descriptors = self.receive()
        if not data:
            self.disown()
            return
        kind, *values = marshal.loads(data)
        if kind == "large":
            # What is too long for one message came as a file in memory.
            with open(descriptors.pop(0), "rb") as file:
                kind, *values = marshal.loads(file.read())
        if kind == "spawn":
            try:
                self.spawn(descriptors, *values)
            finally:
                for descriptor in set(descriptors):
                    os.close(descriptor)
        else:
            self.kill(*values)

    def spawn(self, descriptors, cwd, argv, env, terminal, user):
        actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(descriptors)]
        if terminal is not None:
            # Opened by the leader of a new session, it becomes that session's terminal.
            actions = [(os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0)]
            actions += [(os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
        self.killing = False
        if self.strays is not None:
            self.strays.begin(env)
        try:
            os.chdir(cwd)
            self.leader = start(argv, env, actions) if user is None else start_as(user, argv, env, actions)
        except NoProgram as refusal:
            os.write(descriptors[2], refusal.text)
            self.tell("started", os.getpid())
            self.tell("exited", refusal.code, 0, 0, 0)
            self.tell("gone")
        except OSError as error:
            self.tell("failed", error.errno)
        else:
            self.alive = True
            self.reaped = False
            # For a moment after its exec a program is not yet its user's to write to.
            self.offers = 0 if offer_to_oom_killer(self.leader) else MAX_OFFERS
            self.tell("started", self.leader)

    def tree(self):
        return descendants() if self.strays is None else self.strays.find(self.leader)

    def offer_tree(self):
        """Once more, and then with what the program has started meanwhile."""
        self.offers -= 1
        if offer_to_oom_killer(self.leader):
            self.offers = 0
            for entry in self.tree():
                offer_to_oom_killer(entry.pid)

    def kill(self, ticket, number, scope):
        if not self.alive:
            pass
        elif scope == "group":
            self.signal_group(number)
        elif number == signal.SIGKILL:
            self.killing = True
            kill_each(self.tree)
        else:
            signal_each(number, self.tree)
        self.tell("killed", ticket)

    def signal_group(self, number):
        if not self.reaped:
            try:
                os.killpg(self.leader, number)
            except (ProcessLookupError, PermissionError):
                pass
            return
        # Without its leader the number of the group may be another's by now.
        signal_each(number, lambda: [entry for entry in self.tree() if entry.group == self.leader])

    def reap(self):
        """Collects the dead. Without a child left there is no descendant either: all are reparented to a subreaper."""
        while self.alive:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                if self.strays is not None and self.tree():
                    return
                self.alive = False
                os.chdir("/")
                self.tell("gone")
                return
            if pid == 0:
                return
            if pid == self.leader and not self.reaped:
                self.reaped = True
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                cpu = int((usage.ru_utime + usage.ru_stime) * 1000)
                self.tell("exited", code, number, cpu, usage.ru_maxrss * 1024)

    def patience(self):
        """How long to wait, in milliseconds. A kill is repeated: a process may have been missed while it forked."""
        if not self.alive:
            return None
        if self.killing:
            return REPEAT_MS
        if self.strays is not None:
            return STRAYS_MS
        return OFFER_MS if self.offers and not self.reaped else None

    def run(self, wakeup):
        poller = select.poll()
        poller.register(wakeup, select.POLLIN)
        poller.register(self.control.fileno(), select.POLLIN)
        while self.owned or self.alive:
            ready = [descriptor for descriptor, _ in poller.poll(self.patience())]
            if wakeup in ready:
                os.read(wakeup, 4096)
            if self.owned and self.control.fileno() in ready:
                self.obey()
                if not self.owned:
                    poller.unregister(self.control.fileno())
            if self.killing and self.alive:
                kill_each(self.tree)
            elif self.strays is not None and self.alive:
                # So that they are known before they are on their own.
                self.tree()
            elif self.offers and self.alive and not self.reaped:
                self.offer_tree()
            self.reap()
            self.report()


def close_all_but(kept):
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                # The descriptor of this listing itself.
                pass


def become_supervisor(control):
    """The child's side of the agent's fork: never returns."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        own = fcntl.fcntl(control.detach(), fcntl.F_DUPFD_CLOEXEC, FIRST_OWN)
        close_all_but({0, 1, 2, own})
        # So that no descriptor that arrives is also the target of one.
        while os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) < FIRST_OWN - 1:
            pass
        strays = None
        try:
            prctl(PR_SET_CHILD_SUBREAPER, 1)
        except OSError:
            strays = Strays()
        wakeup, notify = os.pipe()
        os.set_blocking(notify, False)
        signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
        os.chdir("/")
        Supervisor(socket.socket(fileno=own), strays).run(wakeup)
        code = 0
    finally:
        if code:
            report_defect()
        os._exit(code)


def report_defect():
    import traceback

    os.write(2, traceback.format_exc().encode(errors="replace"))
