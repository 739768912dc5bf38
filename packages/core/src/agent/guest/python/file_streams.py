"""Operations on files that take their time: read, write, list, remove."""

import errno
import os
import stat

from .files import file_info, look, make_directories, modified_ms, remove_tree, require_regular, shown
from .lanes import InLane, OutLane
from .native import MAX_NUMBER, Failure, field, number_field, path_field, to_json
from .stream import Stream
from .wire import LANE_IN, LANE_OUT

MAX_LINKS = 40
READ_CHUNK = 128 * 1024
NEW_FILE = 0o644
LIST_CHUNK = 32 * 1024
SORTED_RUN = 4096


class FileOutput(OutLane):
    """Has its stream called in slices as long as it may send."""

    def __init__(self, stream):
        super().__init__(stream, LANE_OUT)
        self.scheduled = False

    def wake(self):
        if not self.scheduled and not self.ended and not self.stream.stopped:
            self.scheduled = True
            self.stream.agent.loop.soon(self.stream, self.run)

    def run(self):
        self.scheduled = False
        if not self.ended and not self.stream.stopped and (self.cancelled or self.has_room()):
            self.stream.produce()


class ReadStream(Stream):
    descriptor = None

    def start(self, request):
        path = path_field(request, "path")
        self.offset = number_field(request, "offset")
        self.left = number_field(request, "length", optional=True)
        # Looked at first, as opening a device may do something; and again, as it may have been replaced.
        require_regular(os.stat(path))
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        require_regular(os.fstat(self.descriptor))
        self.lane = self.lanes[LANE_OUT] = FileOutput(self)
        self.agent.enter(self)
        self.respond({})
        self.lane.wake()

    def produce(self):
        if self.lane.cancelled:
            self.finish()
            return
        size = min(READ_CHUNK, self.lane.credit)
        if self.left is not None:
            size = min(size, self.left)
        try:
            data = os.pread(self.descriptor, size, self.offset) if size > 0 else b""
        except OSError:
            self.finish(missing=1)
            return
        if data:
            self.offset += len(data)
            if self.left is not None:
                self.left -= len(data)
            self.lane.send(data)
        if not data or self.left == 0:
            self.finish()
        else:
            self.lane.wake()

    def finish(self, missing=0):
        self.release()
        self.lane.end(missing)

    def release(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
        self.agent.leave(self)

    def broken(self, error):
        self.release()
        super().broken(error)

    def client_left(self):
        super().client_left()
        self.release()


def follow_links(path):
    """The path that a chain of links leads to, also when nothing is there."""
    for _ in range(MAX_LINKS):
        try:
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return path
            raise
    raise Failure(errno.ELOOP, "more than %d links" % MAX_LINKS)


class FileInput(InLane):
    def __init__(self, stream):
        super().__init__(stream, LANE_IN)

    def arrived(self, payload):
        self.stream.write(payload)

    def finished(self):
        self.stream.commit()

    def cancel(self):
        self.refused = True
        self.stream.fail(Failure(errno.ECANCELED, "given up by the writer"))


class WriteStream(Stream):
    """Beside the file first and then in its place; or appended to it."""

    descriptor = None
    fresh = None

    def start(self, request):
        self.lane = self.lanes[LANE_IN] = FileInput(self)
        self.agent.enter(self)
        try:
            self.open(request)
        except (OSError, Failure) as error:
            self.fail(Failure.of(error))

    def open(self, request):
        path = path_field(request, "path")
        self.mode = field(request, "mode", str)
        if self.mode not in ("truncate", "append", "exclusive"):
            raise Failure(errno.EINVAL, "write: no mode %r" % self.mode)
        self.permissions = number_field(request, "permissions", highest=0o7777, optional=True)
        self.expected = number_field(request, "ifModifiedAt", lowest=-MAX_NUMBER, optional=True)
        self.target = path if self.mode == "exclusive" else follow_links(path)
        self.old = self.check()
        folder = os.path.dirname(self.target)
        if self.old is None:
            make_directories(folder)
        elif not os.access(self.target, os.W_OK):
            raise Failure(errno.EACCES, "the file is not writable")
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        if self.mode == "append":
            self.descriptor = os.open(self.target, flags | os.O_APPEND, NEW_FILE)
            require_regular(os.fstat(self.descriptor))
        else:
            fresh = os.path.join(folder, b".sandkit-" + os.urandom(8).hex().encode())
            self.descriptor = os.open(fresh, flags | os.O_EXCL, 0o600)
            self.fresh = fresh

    def check(self):
        """What is there now; it must be what the request says."""
        old = look(self.target)
        if old is not None:
            if self.mode == "exclusive":
                raise Failure(errno.EEXIST, "something has this name already")
            require_regular(old)
        if self.expected is not None and (old is None or modified_ms(old) != self.expected):
            raise Failure(errno.ESTALE, "the file was changed, or is not there")
        return old

    def write(self, payload):
        view = memoryview(payload)
        try:
            while view:
                view = view[os.write(self.descriptor, view) :]
        except OSError as error:
            self.fail(Failure.of(error))
            return
        self.lane.handed_on(len(payload))

    def commit(self):
        try:
            if self.mode == "append":
                if self.permissions is not None or self.old is None:
                    os.fchmod(self.descriptor, NEW_FILE if self.permissions is None else self.permissions)
            else:
                self.replace()
        except (OSError, Failure) as error:
            self.fail(Failure.of(error))
            return
        self.release()
        self.respond({"bytes": self.lane.total})

    def replace(self):
        kept = NEW_FILE if self.old is None else stat.S_IMODE(self.old.st_mode)
        if self.old is not None:
            self.dress(self.old)
        # After the owner, whose change takes bits away.
        os.fchmod(self.descriptor, kept if self.permissions is None else self.permissions)
        self.check()
        if self.mode == "exclusive":
            os.link(self.fresh, self.target, follow_symlinks=False)
        else:
            os.rename(self.fresh, self.target)
            self.fresh = None

    def dress(self, old):
        """Keeps the owner, and moves the time on: two writes within a millisecond must differ for `ifModifiedAt`."""
        now = os.fstat(self.descriptor)
        if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            try:
                os.fchown(self.descriptor, old.st_uid, old.st_gid)
            except PermissionError:
                # As every program of this user that replaces a file.
                pass
        if modified_ms(now) <= modified_ms(old):
            later = (modified_ms(old) + 1) * 1_000_000
            os.utime(self.descriptor, ns=(now.st_atime_ns, later))

    def fail(self, failure):
        self.release()
        self.lane.refuse()
        self.refuse(failure)

    def release(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
        if self.fresh is not None:
            fresh, self.fresh = self.fresh, None
            try:
                os.unlink(fresh)
            except OSError:
                # Somebody in the box has cleaned up, or put something else there: that is theirs to remove.
                pass
        self.agent.leave(self)

    def broken(self, error):
        self.release()
        super().broken(error)

    def client_left(self):
        super().client_left()
        self.release()


def order(text):
    """UTF-16 code units, as the host compares text."""
    return text.encode("utf-16-be")


class Listing:
    """The steps of one directory in order: (key, name, whether its content comes now)."""

    def __init__(self, path, enters):
        self.path = path
        self.enters = enters
        self.steps = iter(())

    def load(self):
        """Reads and sorts in slices."""
        runs, run = [], []
        with os.scandir(self.path) as entries:
            for entry in entries:
                text = shown(entry.name)
                run.append((order(text), entry.name, False))
                if self.enters and entry.is_dir(follow_symlinks=False):
                    run.append((order(text + "/"), entry.name, True))
                if len(run) >= SORTED_RUN:
                    run.sort()
                    runs.append(run)
                    run = []
                    yield
        run.sort()
        if runs:
            from heapq import merge

            self.steps = merge(*runs, run)
        else:
            self.steps = iter(run)


class ListStream(Stream):
    def start(self, request):
        self.path = path_field(request, "path")
        recursive = field(request, "recursive", bool)
        depth = number_field(request, "maxDepth", lowest=1, optional=True)
        self.depth = (depth or MAX_NUMBER) if recursive else 1
        limit = number_field(request, "limit", optional=True)
        self.limit = MAX_NUMBER if limit is None else limit
        self.lines = []
        self.size = 0
        self.waits = False
        self.lane = self.lanes[LANE_OUT] = FileOutput(self)
        self.agent.enter(self)
        self.agent.loop.slices(self, self.steps(), self.finish)

    def steps(self):
        """Yields True while nothing more may be sent."""
        try:
            for _ in self.walk(self.path, self.depth):
                if self.size >= LIST_CHUNK:
                    while not self.flush():
                        self.waits = True
                        yield True
                if self.lane.cancelled:
                    return
                yield False
        except (OSError, Failure) as error:
            if not self.answered:
                raise
            self.lines.append(to_json({"error": Failure.of(error).told()}))
        while not self.flush():
            self.waits = True
            yield True

    def walk(self, path, depth):
        if self.limit == 0:
            os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            return
        levels = [Listing(path, depth > 1)]
        yield from levels[0].load()
        while levels:
            step = next(levels[-1].steps, None)
            yield
            if step is None:
                levels.pop()
                continue
            inner = os.path.join(levels[-1].path, step[1])
            if not step[2]:
                self.add(inner)
                if self.limit == 0:
                    return
                continue
            listing = Listing(inner, depth > len(levels) + 1)
            try:
                yield from listing.load()
            except (FileNotFoundError, NotADirectoryError):
                # Removed or replaced between being seen and being looked at.
                continue
            except OSError as error:
                raise Failure.of(error, inner) from error
            levels.append(listing)

    def add(self, path):
        try:
            line = to_json(file_info(path, os.lstat(path)))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise Failure.of(error, path) from error
        self.limit -= 1
        self.lines.append(line)
        self.size += len(line) + 1

    def flush(self):
        """Sends what is there, as far as it may be. False when something is left."""
        if not self.answered:
            self.respond({})
        data = "".join(line + "\n" for line in self.lines).encode()
        while data and (self.lane.cancelled or self.lane.has_room()):
            size = len(data) if self.lane.cancelled else min(len(data), self.lane.credit)
            self.lane.send(data[:size])
            data = data[size:]
        self.lines = [data[:-1].decode()] if data else []
        self.size = len(data)
        return not data

    def produce(self):
        """More may be sent."""
        if self.waits:
            self.waits = False
            self.resume()

    def finish(self):
        self.agent.leave(self)
        self.lane.end()

    def broken(self, error):
        """Before anything was sent the failure is the answer."""
        self.agent.leave(self)
        super().broken(error)

    def client_left(self):
        super().client_left()
        self.agent.leave(self)


class RemoveStream(Stream):
    def start(self, request):
        path = path_field(request, "path")
        recursive = field(request, "recursive", bool)
        found = look(path)
        if found is None:
            self.respond({"removed": False})
        elif not stat.S_ISDIR(found.st_mode):
            os.unlink(path)
            self.respond({"removed": True})
        elif not recursive:
            raise Failure(errno.EISDIR, "it is a directory")
        elif path == b"/":
            raise Failure(errno.EBUSY, "the root cannot be removed")
        else:
            self.agent.enter(self)
            self.agent.loop.slices(self, remove_tree(path), self.finish)

    def finish(self):
        self.agent.leave(self)
        self.respond({"removed": True})

    def broken(self, error):
        self.agent.leave(self)
        super().broken(error)

    def client_left(self):
        super().client_left()
        self.agent.leave(self)
