"""Runs one program and owns every process that grows from it. Started by process.ts, one for each command.

Descriptors 0, 1 and 2 lead to the caller's end of the program's stdin, stdout and stderr: the supervisor relays them,
holding one chunk of each at most. Descriptors 3 and 4 are for control.

    3, in    the program (see read_program), then lines `kill NUMBER`; end of file: the caller is dead
    4, out   `started PID` or `failed ERRNO`, then `exited CODE SIGNAL CPU_MS MEMORY_BYTES`, `killed` for every kill,
             `gone` when no process of the tree is left

It ends with 0 only after `gone`. Every other ending means that the fate of the tree is unknown.
"""

import ctypes
import errno
import fcntl
import os
import select
import sys

# The public module wraps these in enums, whose import would double the start time of every command.
import _signal as signal

STDIN, STDOUT, STDERR, COMMANDS, EVENTS = range(5)
CHUNK = 256 * 1024
FIONREAD = 0x541B
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
BROKEN = select.POLLERR | select.POLLHUP | select.POLLNVAL


def prctl(option, value):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


class Pump:
    """Moves bytes from `source` to `sink`. A closed descriptor is None; a pump without a sink discards."""

    def __init__(self, source, sink, discards):
        self.source = source
        self.sink = sink
        # Whether the source is read on when nobody takes the bytes any more.
        self.discards = discards
        self.held = b""
        # How many bytes still count, once the program has ended; None before.
        self.left = None
        for descriptor in (source, sink):
            os.set_blocking(descriptor, False)

    def watch(self, poller):
        if self.source is not None and not self.held:
            poller.register(self.source, select.POLLIN)
        if self.sink is not None:
            poller.register(self.sink, select.POLLOUT if self.held else 0)

    def step(self, ready):
        if self.sink is not None and self.sink in ready:
            if ready[self.sink] & BROKEN:
                self.close_sink()
            elif self.held:
                self.write()
        elif self.source is not None and self.source in ready:
            self.read()
        self.settle()

    def read(self):
        size = CHUNK if self.left is None or self.sink is None else min(CHUNK, self.left)
        try:
            data = os.read(self.source, size)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self.close_source()
        elif self.sink is not None:
            self.held = memoryview(data)
            if self.left is not None:
                self.left -= len(data)
            self.write()

    def write(self):
        try:
            self.held = self.held[os.write(self.sink, self.held) :]
        except BlockingIOError:
            pass
        except ConnectionError:
            self.close_sink()

    def settle(self):
        """Hands on the end of file once all that counts has been written."""
        if not self.held and (self.source is None or self.left == 0):
            self.close_sink()

    def leader_ended(self):
        """Lets through what is in the pipe now. What a background child adds later is discarded."""
        if not self.discards:
            self.held = b""
            self.close_source()
        elif self.source is not None:
            count = bytearray(4)
            fcntl.ioctl(self.source, FIONREAD, count)
            self.left = int.from_bytes(count, sys.byteorder)
        self.settle()

    def close_sink(self):
        if self.sink is not None:
            os.close(self.sink)
            self.sink = None
        self.held = b""
        if not self.discards:
            self.close_source()

    def close_source(self):
        if self.source is not None:
            os.close(self.source)
            self.source = None


class Program:
    """What to run: all bytes, as they came."""

    def __init__(self, cwd, stdin, merge, argv, env):
        self.cwd = cwd
        self.stdin = stdin
        self.merge = merge
        self.argv = argv
        self.env = env


def read_program():
    """A line with the size, then that many bytes: cwd, stdin, merge, count, arguments, `name=value`…, each ended by NUL."""
    size = b""
    while not size.endswith(b"\n"):
        byte = os.read(COMMANDS, 1)
        if not byte:
            os._exit(0)
        size += byte
    payload = b""
    while len(payload) < int(size):
        data = os.read(COMMANDS, int(size) - len(payload))
        if not data:
            os._exit(0)
        payload += data
    cwd, stdin, merge, count, *rest = payload.split(b"\0")[:-1]
    argv, env = rest[: int(count)], rest[int(count) :]
    return Program(cwd, stdin == b"1", merge == b"1", argv, dict(entry.split(b"=", 1) for entry in env))


def execute(program):
    """Replaces this process, or tells on stderr why that cannot be; returns the exit code for it."""
    name = program.argv[0]
    if b"/" in name:
        candidates = [name]
    else:
        folders = program.env.get(b"PATH", b"").split(b":") if name else []
        candidates = [(folder or b".") + b"/" + name for folder in folders]
    problem = errno.ENOENT
    for candidate in candidates:
        try:
            os.execve(candidate, program.argv, program.env)
        except OSError as error:
            missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
            if not missing:
                problem = error.errno
            elif os.access(candidate, os.F_OK):
                # The file is there: it is the interpreter of its first line that is not.
                problem = errno.ENOEXEC
    reason = b"command not found" if problem == errno.ENOENT else os.strerror(problem).encode()
    os.write(STDERR, b"sandkit: " + name + b": " + reason + b"\n")
    return 127 if problem == errno.ENOENT else 126


def become(program, stdin, stdout, stderr, parent):
    """The child's side of the fork: never returns."""
    code = 126
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(code)
        for descriptor, target in ((stdin, STDIN), (stdout, STDOUT), (stderr, STDERR)):
            os.dup2(descriptor, target)
        # Python ignores these two, and what is ignored stays so across an exec.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        code = execute(program)
    finally:
        os._exit(code)


def descendants():
    """Every process below this one. Reparented ones are found because this process is their subreaper."""
    children = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            descriptor = os.open("/proc/" + name + "/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            stat = os.read(descriptor, 4096)
        except OSError:
            continue
        finally:
            os.close(descriptor)
        # The command in parentheses may hold anything, parentheses too.
        parent = int(stat[stat.rindex(b")") + 2 :].split()[1])
        children.setdefault(parent, []).append(int(name))
    found, queue = [], [os.getpid()]
    for pid in queue:
        found += children.get(pid, [])
        queue += children.get(pid, [])
    return found


def signal_tree(number):
    """Sends a signal to each process once, also to those that appear meanwhile.

    Parents come first, so that none of them sees its children stop; so to go on they come last.
    """
    done = set()
    for _ in range(32):
        fresh = [pid for pid in descendants() if pid not in done]
        if not fresh:
            break
        if number == signal.SIGCONT:
            fresh.reverse()
        for pid in fresh:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                # Gone already, or of another user: in that case the tree does not end, and the caller sees that.
                pass
        done.update(fresh)


def kill_tree():
    """Stops all first, so that none can fork while the others die."""
    signal_tree(signal.SIGSTOP)
    signal_tree(signal.SIGKILL)


class Supervisor:
    def __init__(self):
        self.pumps = []
        self.leader = 0
        self.alive = True
        self.killing = False
        self.owned = True
        self.commands = b""

    def say(self, text):
        try:
            os.write(EVENTS, text.encode() + b"\n")
        except ConnectionError:
            self.disown()

    def disown(self):
        self.owned = False
        self.killing = True

    def start(self):
        """Starts the program; false when it cannot run in its directory."""
        program = read_program()
        try:
            os.chdir(program.cwd)
        except OSError as error:
            self.say("failed %d" % error.errno)
            return False
        stdin, feed = os.pipe() if program.stdin else (os.open("/dev/null", os.O_RDONLY), None)
        output, stdout = os.pipe()
        errors, stderr = (None, stdout) if program.merge else os.pipe()
        parent = os.getpid()
        self.leader = os.fork()
        if self.leader == 0:
            become(program, stdin, stdout, stderr, parent)
        for descriptor in {stdin, stdout, stderr}:
            os.close(descriptor)
        if feed is not None:
            self.pumps.append(Pump(STDIN, feed, discards=False))
        self.pumps.append(Pump(output, STDOUT, discards=True))
        if errors is None:
            os.close(STDERR)
        else:
            self.pumps.append(Pump(errors, STDERR, discards=True))
        self.say("started %d" % self.leader)
        return True

    def reap(self):
        """Collects the dead. Without a child left there is no descendant either: all are reparented to this process."""
        while self.alive:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self.alive = False
                self.say("gone")
                return
            if pid == 0:
                return
            if pid == self.leader:
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
                cpu = (usage.ru_utime + usage.ru_stime) * 1000
                self.say("exited %d %d %d %d" % (code, number, cpu, usage.ru_maxrss * 1024))
                for pump in self.pumps:
                    pump.leader_ended()

    def obey(self):
        try:
            data = os.read(COMMANDS, 4096)
        except ConnectionError:
            data = b""
        if not data:
            self.disown()
        *lines, self.commands = (self.commands + data).split(b"\n")
        for line in lines:
            number = int(line.removeprefix(b"kill "))
            if number == signal.SIGKILL:
                self.killing = True
                kill_tree()
            else:
                signal_tree(number)
            self.say("killed")

    def busy(self):
        """While the tree lives, and then until the caller has read what it wrote."""
        return self.alive or (self.owned and any(pump.sink is not None for pump in self.pumps))

    def run(self, wakeup):
        while self.busy():
            poller = select.poll()
            poller.register(wakeup, select.POLLIN)
            if self.owned:
                poller.register(COMMANDS, select.POLLIN)
            for pump in self.pumps:
                pump.watch(poller)
            # A kill is repeated until it has left nobody: a process may have been missed while it forked.
            ready = dict(poller.poll(10 if self.killing and self.alive else None))
            if wakeup in ready:
                os.read(wakeup, 4096)
            if COMMANDS in ready:
                self.obey()
            if self.killing and self.alive:
                kill_tree()
            for pump in self.pumps:
                pump.step(ready)
            self.reap()


def main():
    for descriptor in (COMMANDS, EVENTS):
        os.set_inheritable(descriptor, False)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.umask(0o022)
    wakeup, notify = os.pipe()
    os.set_blocking(notify, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    supervisor = Supervisor()
    if supervisor.start():
        supervisor.run(wakeup)
    os._exit(0)


main()
