"""Notice of changes, by inotify. The kernel's own queue is the bound: what the host does not take waits there."""

import errno
import os
import select
import struct

import _ctypes

from .file_streams import FileOutput
from .files import ENTER_FOLDER, shown
from .native import RTLD_NOW, Failure, _Function, field, path_field, to_json
from .stream import Stream
from .wire import LANE_OUT

IN_MODIFY, IN_ATTRIB, IN_MOVED_FROM, IN_MOVED_TO = 0x2, 0x4, 0x40, 0x80
IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF = 0x100, 0x200, 0x400, 0x800
IN_UNMOUNT, IN_Q_OVERFLOW, IN_IGNORED, IN_ISDIR = 0x2000, 0x4000, 0x8000, 0x40000000
IN_ONLYDIR, IN_DONT_FOLLOW, IN_EXCL_UNLINK = 0x1000000, 0x2000000, 0x4000000
WATCHED = IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_EXCL_UNLINK | IN_ONLYDIR
APPEARED, VANISHED = IN_CREATE | IN_MOVED_TO, IN_DELETE | IN_MOVED_FROM
EVENT_HEAD = struct.Struct("iIII")
EVENTS_BYTES = 32 * 1024
LINES_BYTES = 32 * 1024
# Of our own writes, on their way to their names.
TEMPORARY = b".sandkit-"


def c_function(name):
    return _Function(_ctypes.dlsym(_ctypes.dlopen(None, RTLD_NOW), name))


def checked(result):
    if result < 0:
        number = _ctypes.get_errno()
        if number in (errno.ENOSPC, errno.EMFILE):
            raise Failure(errno.EAGAIN, "this machine gives no more watches: fs.inotify.max_user_watches, max_user_instances")
        raise OSError(number, os.strerror(number))
    return result


def events_of(data):
    at = 0
    while at < len(data):
        number, mask, _, size = EVENT_HEAD.unpack_from(data, at)
        at += EVENT_HEAD.size
        yield number, mask, data[at : at + size].rstrip(b"\0")
        at += size


class WatchStream(Stream):
    """Its work is one generator, which waits while nothing happens and while nothing may be sent."""

    descriptor = None

    def start(self, request):
        self.path = path_field(request, "path")
        self.recursive = field(request, "recursive", bool)
        self.paths = {}
        # Of each new directory, what was told of it when it was looked into: its own notice may follow.
        self.told = {}
        self.lines = []
        self.size = 0
        self.last = None
        self.waits = False
        self.add_watch = c_function("inotify_add_watch")
        self.descriptor = checked(c_function("inotify_init1")(os.O_NONBLOCK | os.O_CLOEXEC))
        self.root = checked(self.add_watch(self.descriptor, self.path, WATCHED | IN_DELETE_SELF | IN_MOVE_SELF))
        self.paths[self.root] = self.path
        self.lane = self.lanes[LANE_OUT] = FileOutput(self)
        self.agent.loop.slices(self, self.steps(), self.finish)

    def steps(self):
        """Yields True while there is nothing to do."""
        yield from self.look_into(self.path, None)
        self.respond({})
        ended = False
        while not ended and not self.lane.cancelled:
            data = self.read()
            if data is None:
                self.agent.loop.watch(self.descriptor, select.POLLIN, self, lambda _mask: self.produce())
                yield from self.wait()
                self.agent.loop.watch(self.descriptor, 0, self, None)
                continue
            for event in events_of(data):
                ended = yield from self.take(*event)
                if ended:
                    break
            yield from self.flush()

    def read(self):
        try:
            return os.read(self.descriptor, EVENTS_BYTES)
        except BlockingIOError:
            return None

    def take(self, number, mask, name):
        """Tells of one event. True when it is the last."""
        if mask & IN_Q_OVERFLOW:
            self.add({"error": Failure(errno.EOVERFLOW, "more changes came than were taken").told()})
            return True
        if number == self.root and mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT):
            self.tell("removed", self.path)
            return True
        folder = self.paths.get(number)
        if mask & IN_IGNORED:
            self.paths.pop(number, None)
            self.told.pop(number, None)
            return False
        if folder is None or not name or name.startswith(TEMPORARY):
            return False
        path = os.path.join(folder, name)
        known = self.told.get(number, ())
        if mask & VANISHED:
            if name in known:
                known.remove(name)
            self.tell("removed", path)
            if mask & IN_ISDIR:
                self.forget_below(path)
        elif not mask & APPEARED:
            self.tell("changed", path)
        elif name in known:
            known.remove(name)
        else:
            self.tell("created", path)
            if mask & IN_ISDIR and self.recursive:
                yield from self.enter(path)
        return False

    def enter(self, path):
        """Watches a new directory, and tells of what is in it already."""
        number = self.add_watch(self.descriptor, path, WATCHED | IN_DONT_FOLLOW)
        if number < 0 and _ctypes.get_errno() in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
            # Gone or replaced again, of which there is notice; or not to be read, as for every program.
            return
        self.paths[checked(number)] = path
        yield from self.look_into(path, self.told.setdefault(number, set()))

    def look_into(self, path, told):
        """Enters the directories of a directory; with `told`, what is in it is new."""
        if told is None and not self.recursive:
            return
        try:
            folder = os.open(path, ENTER_FOLDER if told is not None else os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
                return
            raise
        inner = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = os.fsencode(entry.name)
                    if name.startswith(TEMPORARY):
                        continue
                    if told is not None:
                        told.add(name)
                        self.tell("created", os.path.join(path, name))
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(os.path.join(path, name))
                    yield from self.flush(LINES_BYTES)
        finally:
            os.close(folder)
        for below in inner:
            if told is not None:
                yield from self.enter(below)
            else:
                yield from self.enter_silently(below)

    def enter_silently(self, path):
        number = self.add_watch(self.descriptor, path, WATCHED | IN_DONT_FOLLOW)
        if number >= 0:
            self.paths[number] = path
            yield from self.look_into(path, None)
        elif _ctypes.get_errno() not in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
            checked(number)

    def forget_below(self, path):
        """What is moved away is watched no more; moved to another place in here, it is entered there again."""
        below = path + b"/"
        remove = c_function("inotify_rm_watch")
        for number in [number for number, other in self.paths.items() if other == path or other.startswith(below)]:
            del self.paths[number]
            self.told.pop(number, None)
            # Fails for one that was deleted with its directory.
            remove(self.descriptor, number)

    def tell(self, kind, path):
        if kind == "changed" and self.last == path:
            # Told already, and not taken yet.
            return
        self.last = path if kind == "changed" else None
        self.add({"type": kind, "path": shown(path)})

    def add(self, record):
        line = to_json(record) + "\n"
        self.lines.append(line)
        self.size += len(line)

    def flush(self, above=0):
        """Sends what is there, once it is more than `above`."""
        if self.size <= above:
            yield False
            return
        data = "".join(self.lines).encode()
        self.lines, self.size, self.last = [], 0, None
        while data and not self.lane.cancelled:
            if not self.lane.has_room():
                yield from self.wait()
                continue
            size = min(len(data), self.lane.credit)
            self.lane.send(data[:size])
            data = data[size:]

    def wait(self):
        self.waits = True
        yield True

    def produce(self):
        """There may be something to do again."""
        if self.waits:
            self.waits = False
            self.resume()

    def release(self):
        if self.descriptor is not None:
            self.agent.loop.forget(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = None

    def finish(self):
        self.release()
        self.lane.end()

    def broken(self, error):
        """Before it has begun the failure is the answer; later it is the last record."""
        self.release()
        if self.answered and not self.lane.ended and self.lane.has_room():
            data = (to_json({"error": Failure.of(error).told()}) + "\n").encode()
            self.lane.send(data[: self.lane.credit])
        super().broken(error)

    def client_left(self):
        super().client_left()
        self.release()
