"""The agent's side of its supervisors: a small pool of processes, and what becomes of orphans."""

import errno
import marshal
import os
import select
import time

import _signal as signal
import _socket as socket

from .loop import guarded
from .native import Failure
from .supervisor import become_supervisor
from .tree import descendants, kill_each

# How many are made ahead, and how many of those that a burst has needed stay for the next, for how long.
SPARE = 2
MAX_IDLE = 16
IDLE_SECONDS = 10
MAX_MESSAGE = 64 * 1024
REPORT = 4096
REPEAT_SECONDS = 0.01
OOM_SUPERVISOR = b"900"


class OomScore:
    """The agent's own weight for the kernel when memory runs out. To be opened while the agent is still readable."""

    def __init__(self):
        try:
            self.descriptor = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
            self.normal = os.read(self.descriptor, 16).strip()
        except OSError:
            # Not offered by this kernel: all are equal then.
            self.descriptor = None

    def set(self, score):
        if self.descriptor is not None:
            os.pwrite(self.descriptor, score, 0)

    def raised(self, action):
        """Does something while the score is that of supervisors, who inherit it: they could not set it themselves."""
        self.set(OOM_SUPERVISOR)
        try:
            return action()
        finally:
            if self.descriptor is not None:
                self.set(self.normal)


class Handle:
    """One supervisor, and the process stream that it works for."""

    def __init__(self, pid, control):
        self.pid = pid
        self.control = control
        self.process = None


class Crew:
    def __init__(self, loop, oom_score):
        self.loop = loop
        self.oom_score = oom_score
        self.handles = {}
        self.idle = []
        self.trimming = False
        self.last_assigned = 0
        # Processes whose supervisor was killed, by whoever: the guest has the same user.
        self.bereaved = []
        self.clean_scans = 0
        self.closing = False

    def broken(self, error):
        raise error

    def hire(self):
        """Forks a supervisor. Raises OSError when the box has no room for it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            pid = self.oom_score.raised(os.fork)
        except OSError:
            ours.close()
            theirs.close()
            raise
        if pid == 0:
            become_supervisor(theirs)
        theirs.close()
        ours.setblocking(False)
        handle = Handle(pid, ours)
        self.handles[pid] = handle
        self.loop.watch(ours.fileno(), select.POLLIN, self, lambda mask: self.hear(handle))
        return handle

    def needs_spare(self):
        return len(self.idle) < SPARE and not self.closing

    def make_spare(self):
        try:
            self.idle.append(self.hire())
        except OSError:
            # No room now; a spawn that needs one says so.
            return

    def assign(self, process, message, descriptors):
        """Hands a program to a supervisor. Raises OSError when there is none to be had."""
        self.last_assigned = time.monotonic()
        while True:
            spare = bool(self.idle)
            handle = self.idle.pop() if spare else self.hire()
            handle.process = process
            try:
                self.say(handle, message, descriptors)
                return handle
            except OSError:
                # It does not listen: a guest has killed it or stopped it.
                handle.process = None
                self.dismiss(handle)
                if not spare:
                    raise

    @staticmethod
    def say(handle, message, descriptors=()):
        data = marshal.dumps(message)
        large = None
        if len(data) > MAX_MESSAGE:
            large = os.memfd_create("program", os.MFD_CLOEXEC)
            with open(large, "wb", closefd=False) as file:
                file.write(data)
            os.lseek(large, 0, os.SEEK_SET)
            data, descriptors = marshal.dumps(("large",)), [large, *descriptors]
        try:
            packed = b"".join(descriptor.to_bytes(4, "little") for descriptor in descriptors)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if packed else []
            handle.control.sendmsg([data], rights)
        finally:
            if large is not None:
                os.close(large)

    def hear(self, handle):
        # Closed, when it was found to be one too many.
        while handle.control.fileno() >= 0:
            try:
                data = handle.control.recv(REPORT)
            except BlockingIOError:
                return
            except ConnectionError:
                data = b""
            if not data:
                # Its end; the exit status follows.
                self.loop.forget(handle.control.fileno())
                return
            for kind, *values in marshal.loads(data):
                process = handle.process
                if kind in ("gone", "failed"):
                    handle.process = None
                    self.rest(handle)
                if process is not None:
                    guarded(process, process.told, kind, *values)

    def rest(self, handle):
        if len(self.idle) >= MAX_IDLE:
            self.retire(handle)
            return
        self.idle.append(handle)
        if len(self.idle) > SPARE and not self.trimming:
            self.trimming = True
            self.loop.after(IDLE_SECONDS, self.trim)

    def trim(self):
        """Each costs some memory of the box: they go once no burst has come for a while."""
        if time.monotonic() - self.last_assigned < IDLE_SECONDS:
            self.loop.after(IDLE_SECONDS, self.trim)
            return
        self.trimming = False
        while len(self.idle) > SPARE:
            self.retire(self.idle.pop())

    def retire(self, handle):
        # End of file ends it.
        self.loop.forget(handle.control.fileno())
        handle.control.close()

    def dismiss(self, handle):
        try:
            os.kill(handle.pid, signal.SIGKILL)
        except ProcessLookupError:
            # Dead already; its status is still to come.
            pass

    def reap(self):
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            handle = self.handles.get(pid)
            if os.WIFSTOPPED(status):
                # Nobody but a guest stops a supervisor, and a stopped one is of no use.
                if handle is not None:
                    self.dismiss(handle)
            elif handle is not None:
                self.lose(handle)
            else:
                for process in self.bereaved:
                    process.leader_reaped(pid, status, usage)

    def lose(self, handle):
        del self.handles[handle.pid]
        if handle.control.fileno() >= 0:
            # What it told before its end still counts.
            self.hear(handle)
            self.loop.forget(handle.control.fileno())
            handle.control.close()
        if handle in self.idle:
            self.idle.remove(handle)
        if handle.process is not None:
            self.bereaved.append(handle.process)
            handle.process = None
            self.clean_scans = 0
            self.sweep()

    def orphans(self):
        return descendants(self.handles.keys())

    def sweep(self):
        """Ends all that belongs to no living supervisor, until two looks in a row find nobody."""
        if not self.bereaved:
            return
        found = self.orphans()
        if found:
            self.clean_scans = 0
            kill_each(self.orphans)
        else:
            self.clean_scans += 1
        if self.clean_scans < 2:
            self.loop.after(REPEAT_SECONDS, self.sweep)
            return
        bereaved, self.bereaved = self.bereaved, []
        for process in bereaved:
            guarded(process, process.supervisor_lost)

    def end_all(self):
        """Kills every process below the agent, supervisors too. False when some do not end."""
        self.closing = True
        for _ in range(500):
            kill_each(descendants)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return True
            select.poll().poll(REPEAT_SECONDS * 1000)
        return False


def no_room(error):
    return Failure(error.errno or errno.EAGAIN, "the box has no room for another program: %s" % error)
