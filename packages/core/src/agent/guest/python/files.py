"""Operations on files that are answered at once."""

import errno
import os
import stat

from .native import Failure, encoded, field, path_field

MAX_TIME_MS = 8_640_000_000_000_000
NEW_DIRECTORY = 0o777


def shown(name):
    """A name of the box as text."""
    return name.decode("utf-8", "replace")


def kind_of(mode):
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def modified_ms(found):
    """Rounded down, and within what the host can tell the time of."""
    return max(-MAX_TIME_MS, min(found.st_mtime_ns // 1_000_000, MAX_TIME_MS))


def file_info(path, found):
    info = {
        "path": shown(path),
        "type": kind_of(found.st_mode),
        "size": found.st_size,
        "mode": stat.S_IMODE(found.st_mode),
        "modifiedAt": modified_ms(found),
    }
    if stat.S_ISLNK(found.st_mode):
        try:
            info["symlinkTarget"] = shown(os.readlink(path))
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            # No link any more: what has replaced it is told instead.
            return file_info(path, os.lstat(path))
    return info


def look(path):
    """What is at a path, links not followed; None when nothing is."""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def require_regular(found):
    """Refuses what cannot be read or written as a whole: a pipe or a device may hang, or never end."""
    if stat.S_ISDIR(found.st_mode):
        raise Failure(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(found.st_mode):
        raise Failure(errno.EINVAL, "it is a pipe, socket or device")


def make_directories(path):
    """Makes a directory and its parents; content with one that is there."""
    missing = []
    while True:
        try:
            os.mkdir(path, NEW_DIRECTORY)
        except FileExistsError:
            if not os.path.isdir(path):
                # Below something that is no directory nothing can be made.
                number = errno.ENOTDIR if missing else errno.EEXIST
                raise Failure(number, "%s is no directory" % shown(path)) from None
        except FileNotFoundError:
            parent = os.path.dirname(path)
            if parent == path:
                raise
            missing.append(path)
            path = parent
            continue
        except OSError as error:
            # A read-only place says so before it says that the directory is there.
            if not (error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and os.path.isdir(path)):
                raise
        if not missing:
            return
        path = missing.pop()


def stat_file(request):
    path = path_field(request, "path")
    follow = field(request, "followSymlinks", bool)
    return file_info(path, os.stat(path) if follow else os.lstat(path))


def mkdir(request):
    make_directories(path_field(request, "path"))
    return {}


def about(path, action, *values):
    """Does something, with the path in the failure."""
    try:
        return action(*values)
    except (OSError, Failure) as error:
        failure = Failure.of(error)
        failure.path = shown(path)
        raise failure from error


def move(request):
    source, target = path_field(request, "from"), path_field(request, "to")
    about(source, os.lstat, source)
    about(target, make_directories, os.path.dirname(target))
    about(target, os.rename, source, target)
    return {}


def symlink(request):
    target, path = encoded(field(request, "target", str)), path_field(request, "path")
    make_directories(os.path.dirname(path))
    os.symlink(target, path)
    return {}


ENTER_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Enough to name what is in it, and needs no permission to read it.
HOLD_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
NAMES_A_STEP = 1024
# How often directories may be found filled again before a removal is given up.
MAX_REFILLS = 8


def identity(descriptor):
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def remove_tree(path):
    """
    Removes a directory and all in it, one entry a step. Two descriptors at most, whatever the depth: on the way back up
    each directory must be the one that it was on the way down, so that no link or rename leads elsewhere.
    """
    folder = os.open(os.path.dirname(path), HOLD_FOLDER)
    # Of each directory on the way down: the one above, its own name, and the names in it that are left.
    levels = [(None, None, [os.path.basename(path)])]
    refills = MAX_REFILLS
    try:
        while True:
            yield
            above, own, names = levels[-1]
            if names:
                name = names.pop()
                if remove_entry(name, folder):
                    continue
                try:
                    inner = os.open(name, ENTER_FOLDER, dir_fd=folder)
                except (FileNotFoundError, NotADirectoryError):
                    # Removed or replaced between being seen and being entered: it is looked at again.
                    names.append(name)
                    continue
                levels.append((identity(folder), name, []))
                os.close(folder)
                folder = inner
                yield from collect_names(folder, levels[-1][2])
                continue
            levels.pop()
            if own is None:
                return
            outer = os.open(b"..", HOLD_FOLDER, dir_fd=folder)
            os.close(folder)
            folder = outer
            if identity(folder) != above:
                raise Failure(errno.EBUSY, "the directory was moved while it was removed")
            try:
                os.rmdir(own, dir_fd=folder)
            except FileNotFoundError:
                # Somebody else removed it.
                pass
            except OSError as error:
                # Somebody puts files into it meanwhile, or has put something else in its place.
                if error.errno not in (errno.ENOTEMPTY, errno.ENOTDIR):
                    raise
                if refills == 0 and error.errno == errno.ENOTDIR:
                    raise Failure(errno.EBUSY, f"{os.fsdecode(own)!r} is replaced again and again while it is removed") from None
                if refills == 0:
                    raise
                refills -= 1
                levels[-1][2].append(own)
    finally:
        os.close(folder)


def collect_names(folder, names):
    with os.scandir(folder) as entries:
        for entry in entries:
            names.append(os.fsencode(entry.name))
            if len(names) % NAMES_A_STEP == 0:
                yield


def remove_entry(name, folder):
    """Removes anything but a directory. True when nothing has the name any more."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except IsADirectoryError:
        return False
    except PermissionError:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            raise
        return False
    return True
