"""Programs: what `subprocess` and `os.system` start runs in an interpreter of its own, in this sandbox."""

import binascii
import errno
import io
import os
import signal
import subprocess
import time
import types

from . import host

_slice = 1.0
_piece = 32 * 1024
# Input that a program has not read yet, beyond which its output is taken before more is given.
_most_unread = 1024 * 1024
_refused = ("preexec_fn", "startupinfo", "pass_fds", "user", "group", "extra_groups")


def install():
    """Puts these in place of what needs an operating system."""
    subprocess.Popen = Popen
    os.system = _system


class Popen(subprocess.Popen):
    """As CPython's, but that nothing is inherited: a program gets what it is given, and no input without `stdin`."""

    def __init__(
        self,
        args,
        bufsize=-1,
        executable=None,
        stdin=None,
        stdout=None,
        stderr=None,
        preexec_fn=None,
        close_fds=True,
        shell=False,
        cwd=None,
        env=None,
        universal_newlines=None,
        startupinfo=None,
        creationflags=0,
        restore_signals=True,
        start_new_session=False,
        pass_fds=(),
        *,
        user=None,
        group=None,
        extra_groups=None,
        encoding=None,
        errors=None,
        text=None,
        umask=-1,
        pipesize=-1,
        process_group=None,
    ):
        given = locals()
        for name in _refused:
            if given[name] not in (None, ()):
                raise OSError(errno.ENOTSUP, f"{name} is not available in this sandbox")
        self.args, self.returncode, self.pid = args, None, None
        self.stdin = self.stdout = self.stderr = None
        # CPython's own ways to wait for it are of no use.
        self._child_created = False
        argv = _argv(args, shell, executable)
        self._program = _Program(argv, cwd, env, stdin not in (None, subprocess.DEVNULL))
        self.pid = self._program.pid
        self.text_mode = encoding or errors or text or universal_newlines
        self._input_encoding = encoding or "utf-8"

        def opened(raw, wrap):
            file = raw if bufsize == 0 else wrap(raw)
            if not self.text_mode:
                return file
            return io.TextIOWrapper(file, encoding, errors, write_through=True, line_buffering=bufsize == 1)

        if stdout == subprocess.PIPE:
            self.stdout = opened(_Output(self._program, 1), io.BufferedReader)
        else:
            self._program.sinks[1] = _sink(stdout, 1)
        if stderr == subprocess.PIPE:
            self.stderr = opened(_Output(self._program, 2), io.BufferedReader)
        elif stderr == subprocess.STDOUT:
            self._program.sinks[2] = self._program.sinks.get(1, self._program.pending[1].extend)
        else:
            self._program.sinks[2] = _sink(stderr, 2)
        if stdin == subprocess.PIPE:
            self.stdin = opened(_Input(self._program), io.BufferedWriter)
        elif stdin not in (None, subprocess.DEVNULL):
            self._program.feed_all(_source(stdin))

    def poll(self):
        while self._program.exit is None and self._program.pump(0):
            pass
        self.returncode = self._program.exit
        return self.returncode

    def wait(self, timeout=None):
        self._finish(timeout)
        return self.returncode

    def _wait(self, timeout):
        return self.wait(timeout)

    # After an interrupt, as in CPython.
    _sigint_wait_secs = 0.25

    def communicate(self, input=None, timeout=None):
        if self.stdin and not self.stdin.closed:
            if input:
                data = input.encode(self._input_encoding) if self.text_mode else input
                self.stdin.flush()
                self._program.feed(data)
            self.stdin.close()
        try:
            self._finish(timeout)
        except subprocess.TimeoutExpired as error:
            error.output, error.stderr = (bytes(self._program.pending[stream]) or None for stream in (1, 2))
            raise
        return tuple(file and _read_rest(file) for file in (self.stdout, self.stderr))

    def send_signal(self, sig):
        if self.poll() is None:
            self._program.kill(signal.Signals(sig).name)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def __del__(self, *_):
        # CPython's looks after children of an operating system.
        pass

    def _finish(self, timeout):
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._program.exit is None:
            left = _slice if deadline is None else deadline - time.monotonic()
            if not self._program.pump(max(0, min(left, _slice))) and left <= 0:
                raise subprocess.TimeoutExpired(self.args, timeout)
        self.returncode = self._program.exit

    __class_getitem__ = classmethod(types.GenericAlias)


class _Program:
    """One program, as the broker knows it."""

    # As `returncode`, once it has ended; one that never began is over, too.
    exit = -1

    def __init__(self, argv, cwd, env, has_input):
        place = {
            "cwd": os.path.abspath(os.fsdecode(cwd or ".")),
            "env": {os.fsdecode(name): os.fsdecode(value) for name, value in (os.environ if env is None else env).items()},
        }
        reply = host.call("spawn", "any", argv, place, has_input)
        if "error" in reply:
            number = getattr(errno, reply["error"])
            name = argv[0] if os.path.isdir(place["cwd"]) else place["cwd"]
            raise OSError(number, os.strerror(number), name)
        self._handle, self.pid = reply["program"], reply["pid"]
        # What a stream's bytes are given to, or where they wait to be read.
        self.sinks = {}
        self.pending = {1: bytearray(), 2: bytearray()}
        self.exit = None

    def pump(self, seconds):
        """Takes one piece of news; False when there was none in that time."""
        news = host.call("collectText", self._handle, seconds * 1000)
        if news is None:
            host.check_signals()
            return False
        if "exit" in news:
            self.exit = _return_code(news["exit"])
            return True
        stream, data = news["stream"], binascii.a2b_base64(news["data"])
        sink = self.sinks.get(stream)
        if sink:
            sink(data)
        else:
            self.pending[stream] += data
        return True

    def feed(self, data):
        """Gives input, and meanwhile takes output. What has ended takes none, without a word."""
        data = memoryview(data).cast("B")
        for start in range(0, len(data), _piece):
            if self.exit is not None:
                return
            text = binascii.b2a_base64(data[start : start + _piece], newline=False).decode()
            unread = host.call("feedText", self._handle, text)
            while unread > _most_unread and self.exit is None:
                self.pump(0.02)
                unread = 0 if self.exit is not None else host.call("feedText", self._handle, None)

    def close_input(self):
        if self.exit is None:
            host.call("feedText", self._handle, "")

    def feed_all(self, pieces):
        for data in pieces:
            self.feed(data)
        self.close_input()

    def kill(self, name):
        host.call("kill", self._handle, name)

    def __del__(self):
        # Nobody can ask for it any more: it goes on, until this program ends.
        if self.exit is None:
            host.call("abandon", self._handle)


class _Output(io.RawIOBase):
    """What a program writes, as a file; reading it waits for more."""

    def __init__(self, program, stream):
        self._program, self._pending = program, program.pending[stream]

    def readable(self):
        return True

    def readinto(self, target):
        while not self._pending and self._program.exit is None:
            self._program.pump(_slice)
        piece = self._pending[: len(target)]
        target[: len(piece)] = piece
        del self._pending[: len(piece)]
        return len(piece)


class _Input(io.RawIOBase):
    """What a program reads, as a file."""

    def __init__(self, program):
        self._program = program

    def writable(self):
        return True

    def write(self, data):
        if self._program.exit is not None:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        self._program.feed(data)
        return len(data)

    def close(self):
        if not self.closed:
            self._program.close_input()
        super().close()


def _argv(args, shell, executable):
    if isinstance(args, (str, bytes, os.PathLike)):
        args = [args]
    argv = [os.fsdecode(arg) for arg in args]
    if shell:
        argv = ["sh" if executable is None else os.fsdecode(executable), "-c", *argv]
    elif executable is not None:
        argv[0] = os.fsdecode(executable)
    if not argv:
        raise IndexError("list index out of range")
    return argv


def _sink(target, own):
    """Where the bytes of a stream go; None stands for the stream of this program."""
    if target == subprocess.DEVNULL:
        return lambda data: None
    descriptor = own if target is None else target if isinstance(target, int) else target.fileno()

    def write(data):
        while data:
            data = data[os.write(descriptor, data) :]

    return write


def _source(target):
    descriptor = target if isinstance(target, int) else target.fileno()
    while data := os.read(descriptor, _piece):
        yield data


def _read_rest(file):
    try:
        return file.read()
    finally:
        file.close()


def _return_code(exit):
    if exit["exitCode"] is not None:
        return exit["exitCode"]
    try:
        return -signal.Signals[exit.get("signal") or "SIGKILL"].value
    except KeyError:
        return -9


def _system(command):
    code = subprocess.run(["sh", "-c", os.fsdecode(command)]).returncode
    return -code if code < 0 else code << 8
