"""Runs one program in the box and relays it: frames in on stdin, frames out on stdout.

A frame is a kind (1 byte), a length (4 bytes, big endian) and a payload.
In:  P program (JSON)  i input  c end of input  w size of the terminal (JSON)  s signal (decimal)  t signal to the tree
Out: p pid  f failure (JSON)  a input taken  o stdout  e stderr (a terminal has only the first)  x end (JSON)

As with the agents of the clouds that this imitates, the program gets no process group of its own, a signal goes to it
alone, and its end is told when its pipes have ended too, except after SIGTERM and SIGKILL. Input is sent one frame at
a time: the next one only when the one before was taken. After its end this stays until the last process of its tree
has ended too.
"""

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
import termios

CHUNK = 32768
HIGH = 131072
HEAD = struct.Struct(">cI")
PR_SET_CHILD_SUBREAPER = 36


def read_exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


def read_frame():
    kind, length = HEAD.unpack(read_exactly(HEAD.size))
    return kind, read_exactly(length)


def descendants():
    """Every process below this one; those that lost their parent are this one's, as their subreaper."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/" + name + "/stat", "rb") as stat:
                parent = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(name))
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def signal_tree(number):
    """Sends a signal to each once, also to those that appear meanwhile."""
    done = set()
    while True:
        fresh = set(descendants()) - done
        if not fresh:
            return
        for pid in fresh:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        done |= fresh


class Relay:
    def __init__(self):
        # A socket: it is stdin too, which has to block.
        self.host = socket.socket(fileno=os.dup(1))
        self.out = bytearray()
        self.input = b""
        self.sources = {}
        self.sink = None
        self.terminal = None
        self.pid = 0
        self.status = None
        self.cut = False
        self.closing = False

    def say(self, kind, payload=b""):
        self.out += HEAD.pack(kind, len(payload)) + payload

    def flush(self):
        """Writes what the host takes now."""
        try:
            while self.out:
                del self.out[: self.host.send(self.out, socket.MSG_DONTWAIT)]
        except BlockingIOError:
            pass
        except OSError:
            os._exit(0)

    def finish(self):
        self.host.sendall(self.out)
        os._exit(0)

    def start(self, program):
        environment = dict(os.environ)
        environment.update(program["env"])
        argv = program["argv"]
        failed, report = os.pipe()
        try:
            directory = os.open(program["cwd"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            self.say(b"f", json.dumps({"what": "cwd", "errno": errno.errorcode.get(error.errno, "EIO")}).encode())
            self.finish()
        if program["pty"]:
            self.terminal, slave = pty.openpty()
            self.resize(program["pty"])
            theirs = [slave, slave, slave]
            self.sources[self.terminal] = b"o"
            self.sink = self.terminal
        else:
            reader, self.sink = os.pipe() if program["stdin"] else (os.open("/dev/null", os.O_RDONLY), None)
            stdout, stdout_of_child = os.pipe()
            stderr, stderr_of_child = os.pipe()
            theirs = [reader, stdout_of_child, stderr_of_child]
            self.sources = {stdout: b"o", stderr: b"e"}
        self.pid = os.fork()
        if self.pid == 0:
            self.become(program, argv, environment, directory, theirs, report)
        for descriptor in {report, directory, *theirs}:
            os.close(descriptor)
        problem = b""
        while True:
            piece = os.read(failed, 16)
            if not piece:
                break
            problem += piece
        os.close(failed)
        if problem:
            os.waitpid(self.pid, 0)
            self.say(b"f", json.dumps({"what": "program", "errno": problem.decode()}).encode())
            self.finish()
        for descriptor in [*self.sources, self.sink]:
            if descriptor is not None:
                os.set_blocking(descriptor, False)
        self.say(b"p", str(self.pid).encode())

    def become(self, program, argv, environment, directory, theirs, report):
        try:
            os.fchdir(directory)
            if program["pty"]:
                os.setsid()
                fcntl.ioctl(theirs[0], termios.TIOCSCTTY, 0)
            for target, descriptor in enumerate(theirs):
                os.dup2(descriptor, target)
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            os.execvpe(argv[0], argv, environment)
        except OSError as error:
            os.write(report, errno.errorcode.get(error.errno, "EIO").encode())
        finally:
            os._exit(127)

    def resize(self, size):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size["rows"], size["columns"], 0, 0))

    def obey(self):
        kind, payload = read_frame()
        if kind == b"i":
            self.input += payload
            if self.sink is None:
                self.take_input()
        elif kind == b"c":
            self.closing = True
            self.take_input()
        elif kind == b"w" and self.terminal is not None:
            self.resize(json.loads(payload))
        elif kind == b"s":
            self.signal(int(payload))
        elif kind == b"t":
            signal_tree(int(payload))
            self.cut = self.cut or int(payload) == signal.SIGKILL

    def signal(self, number):
        if self.status is None:
            os.kill(self.pid, number)
        if number in (signal.SIGTERM, signal.SIGKILL):
            self.cut = True

    def take_input(self):
        if self.input and self.sink is not None:
            try:
                self.input = self.input[os.write(self.sink, self.input) :]
            except BlockingIOError:
                return
            except OSError:
                self.close_input()
        if self.sink is None and self.input:
            self.input = b""
        if not self.input:
            self.say(b"a")
            if self.closing:
                self.close_input()

    def close_input(self):
        if self.sink is not None and self.sink != self.terminal:
            os.close(self.sink)
            self.sink = None

    def read(self, descriptor):
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            # A terminal that nobody has open any more.
            data = b""
        if data:
            self.say(self.sources[descriptor], data)
            return True
        del self.sources[descriptor]
        if descriptor == self.terminal:
            self.sink = self.terminal = None
        os.close(descriptor)
        return False

    def reap(self):
        """Collects the dead; false once there is nobody left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == self.pid:
                    self.status = status
                if pid == 0:
                    return True
        except ChildProcessError:
            return False

    def over(self):
        if self.status is None:
            return False
        if self.cut:
            for descriptor in list(self.sources):
                while self.read(descriptor):
                    pass
            return True
        return not self.sources

    def run(self, wakeup):
        while not self.over():
            poller = select.poll()
            poller.register(wakeup, select.POLLIN)
            poller.register(0, select.POLLIN)
            if self.out:
                poller.register(1, select.POLLOUT)
            if len(self.out) < HIGH:
                for descriptor in self.sources:
                    poller.register(descriptor, select.POLLIN)
            if self.input and self.sink is not None:
                poller.register(self.sink, select.POLLOUT | (select.POLLIN if self.sink in self.sources else 0))
            ready = dict(poller.poll())
            if wakeup in ready:
                os.read(wakeup, 4096)
            if 0 in ready:
                self.obey()
            if self.input and self.sink in ready:
                self.take_input()
            for descriptor in [one for one in self.sources if ready.get(one, 0) & (select.POLLIN | select.POLLHUP)]:
                self.read(descriptor)
            self.flush()
            self.reap()
        code = os.WEXITSTATUS(self.status) if os.WIFEXITED(self.status) else None
        number = os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else None
        self.say(b"x", json.dumps({"code": code, "signal": number}).encode())
        self.host.sendall(self.out)
        self.linger(wakeup)

    def linger(self, wakeup):
        """Signals to the tree are still taken; output is not."""
        for descriptor in {*self.sources, self.sink, self.terminal} - {None}:
            os.close(descriptor)
        while self.reap():
            ready = dict(self.wait(wakeup))
            if 0 in ready:
                self.obey()
        os._exit(0)

    def wait(self, wakeup):
        poller = select.poll()
        poller.register(wakeup, select.POLLIN)
        poller.register(0, select.POLLIN)
        ready = poller.poll()
        if wakeup in dict(ready):
            os.read(wakeup, 4096)
        return ready


def main():
    wakeup, notify = os.pipe()
    os.set_blocking(notify, False)
    os.set_blocking(wakeup, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    # `kill 0` in the program reaches this one too, which is in its group.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    relay = Relay()
    _, program = read_frame()
    relay.start(json.loads(program))
    relay.run(wakeup)


main()
