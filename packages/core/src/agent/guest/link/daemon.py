"""Starts the agent of a box where none answers, out of reach of the terminal that asked for it."""

import gc
import marshal
import os
import pwd
import select
import sys
import time
from _frozen_importlib_external import MAGIC_NUMBER
from zlib import compress

import _signal as signal

from .reach import RETRY_SECONDS, START_SECONDS, connect_once

PROFILE_SECONDS = 5
SYSTEM_PATH = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Those that take `-l -c` and the parameters after it.
SHELLS = ("bash", "sh", "zsh", "dash", "ash", "ksh")
# Of the terminal or of the one shell on it.
OWN_VARIABLES = (b"TERM", b"COLUMNS", b"LINES", b"PS1", b"PS2", b"SHLVL", b"PWD", b"OLDPWD", b"_", b"PROMPT_COMMAND")
TELL_ENVIRONMENT = """import os
with open(%d, "wb") as sink:
    sink.write(b"\\0".join(name + b"=" + value for name, value in os.environb.items()))"""


class Account:
    """The user that the programs of the box run as."""

    def __init__(self, name):
        self.name, self.uid, self.gid = name, os.geteuid(), os.getegid()
        self.home, self.shell = os.environ.get("HOME", "/"), "/bin/sh"
        try:
            entry = pwd.getpwnam(name) if name else pwd.getpwuid(self.uid)
        except KeyError:
            if name:
                raise OSError("there is no user %r in this box" % name) from None
            return
        self.name, self.uid, self.gid, self.shell = entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_shell
        # The terminal's own user is at home where the vendor says, as in the vendor's own programs.
        if name or not os.environ.get("HOME"):
            self.home = entry.pw_dir
        if os.geteuid() not in (0, self.uid):
            raise OSError("this terminal's user cannot start programs as %r: name another user" % name)

    def become(self):
        if os.geteuid() != self.uid:
            os.initgroups(self.name, self.gid)
            os.setgid(self.gid)
            os.setuid(self.uid)

    def environment(self):
        """That of a login shell; of the terminal, where no shell tells in time. To be asked as this user."""
        env = {name: value for name, value in os.environb.items() if name not in OWN_VARIABLES}
        env.setdefault(b"PATH", SYSTEM_PATH)
        env[b"HOME"] = os.fsencode(self.home)
        env[b"SHELL"] = os.fsencode(self.shell)
        if self.name:
            env[b"USER"] = env[b"LOGNAME"] = os.fsencode(self.name)
        told = self.ask_shell(env)
        return told if b"PATH" in told else env

    def ask_shell(self, env):
        usable = os.path.basename(self.shell) in SHELLS and os.access(self.shell, os.X_OK)
        shell = self.shell if usable else "/bin/sh"
        source, sink = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            silence(0, 1, 2)
            os.set_inheritable(sink, True)
            command = [shell, "-l", "-c", 'exec "$0" -I -S -c "$1"', sys.executable, TELL_ENVIRONMENT % sink]
            try:
                os.execve(shell, command, env)
            finally:
                os._exit(127)
        os.close(sink)
        text = read_until(source, time.monotonic() + PROFILE_SECONDS)
        os.close(source)
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            # It has ended, as it should.
            pass
        os.waitpid(pid, 0)
        pairs = [pair.partition(b"=") for pair in text.split(b"\0")]
        return {name: value for name, equals, value in pairs if equals and name not in OWN_VARIABLES}


def read_until(source, deadline):
    """All that comes to its end; nothing, when that does not come in time."""
    waiting = select.poll()
    waiting.register(source, select.POLLIN)
    text = b""
    while waiting.poll(max(0, (deadline - time.monotonic()) * 1000)):
        piece = os.read(source, 65536)
        if not piece:
            return text
        text += piece
    return b""


def silence(*descriptors):
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nothing, descriptor)
    os.close(nothing)


def compiled(parts):
    """The agent as the very same interpreter can start from it, which takes longer to compile it than to start."""
    gc.disable()
    texts = zip(parts[::2], parts[1::2])
    return [compile(source, name.decode() + ".py", "exec", optimize=2) for name, source in texts]


def feed(sink, parts):
    """Gives the program to the agent, which asks its user's shell meanwhile."""
    program = compress(MAGIC_NUMBER + marshal.dumps(compiled(parts)), 0)
    try:
        while program:
            program = program[os.write(sink, program) :]
    except BrokenPipeError:
        # It has ended: another was faster, or it tells why.
        pass


def start_agent(account, name, boot, parts):
    """Gives the descriptor that its complaints come from."""
    allowed = str(os.geteuid())
    source, sink = os.pipe()
    complaints, stderr = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            if os.fork():
                os.close(source)
                feed(sink, parts)
                os._exit(0)
            os.chdir("/")
            os.umask(0o022)
            account.become()
            env = account.environment()
            silence(1)
            os.dup2(source, 0)
            os.dup2(stderr, 2)
            os.closerange(3, max(source, sink, complaints, stderr, 256) + 1)
            command = [sys.executable, "-I", "-S", "-u", "-c", boot, "compiled", "-"]
            os.execve(sys.executable, [*command, "detached", allowed, name], env)
        except BaseException as problem:
            os.write(2, str(problem).encode())
        os._exit(70)
    for descriptor in (source, sink, stderr):
        os.close(descriptor)
    os.waitpid(pid, 0)
    return complaints


def reach_agent(account, name, boot, parts):
    """A descriptor that leads to the agent of this name, started when there is none."""
    try:
        return connect_once(name)
    except ConnectionRefusedError:
        complaints = start_agent(account, name, boot, parts)
    deadline = time.monotonic() + PROFILE_SECONDS + START_SECONDS
    said = b""
    waiting = select.poll()
    waiting.register(complaints, select.POLLIN)
    ended = False
    try:
        while True:
            try:
                return connect_once(name)
            except ConnectionRefusedError:
                if ended or time.monotonic() > deadline:
                    raise OSError("the agent did not start: %s" % said.decode("utf-8", "replace")[-1000:]) from None
            if waiting.poll(RETRY_SECONDS * 1000):
                piece = os.read(complaints, 4096)
                said += piece
                ended = not piece
    finally:
        os.close(complaints)
