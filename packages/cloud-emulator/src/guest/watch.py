"""Tells of changes in a directory, one JSON object a line: {} once it listens, then {"name": …, "type": …}.

Names are relative to the directory; types are create, write, remove, rename (away from the name) and chmod.
"""

import ctypes
import json
import os
import struct
import sys

MODIFY, ATTRIB, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
OVERFLOW, IGNORED, IS_DIRECTORY, ONLY_DIRECTORY = 0x4000, 0x8000, 0x40000000, 0x1000000
KINDS = (
    (CREATE | MOVED_TO, "create"),
    (MOVED_FROM, "rename"),
    (ATTRIB, "chmod"),
    (MODIFY, "write"),
    (DELETE, "remove"),
)
ALL = CREATE | MOVED_TO | MOVED_FROM | ATTRIB | MODIFY | DELETE | ONLY_DIRECTORY
EVENT = struct.Struct("iIII")
libc = ctypes.CDLL(None, use_errno=True)


def say(value):
    data = (json.dumps(value) + "\n").encode()
    while data:
        data = data[os.write(1, data) :]


class Watch:
    def __init__(self, recursive):
        self.recursive = recursive
        self.descriptor = libc.inotify_init1(os.O_CLOEXEC)
        self.names = {}
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")

    def add(self, path, name):
        """Watches a directory and, if asked to, those below it."""
        number = libc.inotify_add_watch(self.descriptor, os.fsencode(path), ALL)
        if number < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")
        self.names[number] = name
        if self.recursive:
            for entry in os.scandir(path):
                if entry.is_dir(follow_symlinks=False):
                    self.add_below(entry.path, os.path.join(name, entry.name))

    def add_below(self, path, name):
        """Like `add`, for one that may be gone again."""
        try:
            self.add(path, name)
        except OSError:
            pass

    def run(self, root):
        while True:
            data = os.read(self.descriptor, 65536)
            while data:
                number, mask, _, length = EVENT.unpack_from(data)
                name = os.fsdecode(data[EVENT.size : EVENT.size + length].rstrip(b"\0"))
                data = data[EVENT.size + length :]
                self.tell(root, number, mask, name)

    def tell(self, root, number, mask, name):
        if mask & OVERFLOW:
            say({"error": "too many changes at once: some were missed"})
        if mask & IGNORED:
            self.names.pop(number, None)
        if not name or number not in self.names:
            return
        relative = os.path.join(self.names[number], name)
        if self.recursive and mask & IS_DIRECTORY and mask & (CREATE | MOVED_TO):
            self.add_below(os.path.join(root, relative), relative)
        for bits, kind in KINDS:
            if mask & bits:
                say({"name": relative.encode("utf-8", "replace").decode(), "type": kind})


def main():
    root = sys.argv[1]
    watch = Watch(sys.argv[2] == "recursive")
    watch.add(root, "")
    say({})
    watch.run(root)


try:
    main()
except OSError as error:
    say({"error": error.strerror})
