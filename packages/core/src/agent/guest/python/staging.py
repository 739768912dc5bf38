"""Writes whose bytes come by another way than the host's."""

import errno
import os

from .file_streams import WriteStream
from .files import require_regular, shown
from .lanes import OutLane
from .native import Failure, field, to_json
from .wire import LANE_OUT

SIZE_BYTES = 8


class Report(OutLane):
    def wake(self):
        """One record always fits."""


class StageStream(WriteStream):
    """Makes a file to be filled, and puts it in its place once lane `in` has told how long it must be."""

    report = None
    told = b""

    def open(self, request):
        if field(request, "mode", str) == "append":
            raise Failure(errno.EINVAL, "stage: what is appended is written in place")
        super().open(request)
        path = shown(self.fresh)
        if path.encode() != self.fresh:
            raise Failure(errno.EILSEQ, "the link leads to a name that is no text")
        self.report = self.lanes[LANE_OUT] = Report(self, LANE_OUT)
        self.respond({"path": path})

    def write(self, payload):
        self.told += payload
        if len(self.told) > SIZE_BYTES:
            self.fail(Failure(errno.EINVAL, "stage: the size has %d bytes" % SIZE_BYTES))

    def commit(self):
        try:
            if len(self.told) != SIZE_BYTES:
                raise Failure(errno.EINVAL, "stage: the size has %d bytes" % SIZE_BYTES)
            size = self.adopt()
            if size == int.from_bytes(self.told, "big"):
                self.replace()
        except (OSError, Failure) as error:
            self.fail(Failure.of(error))
            return
        self.release()
        self.tell({"bytes": size})

    def adopt(self):
        """What was filled may be another file than the one that was made. Gives its size."""
        os.close(self.descriptor)
        self.descriptor = None
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        self.descriptor = os.open(self.fresh, flags)
        found = os.fstat(self.descriptor)
        require_regular(found)
        return found.st_size

    def fail(self, failure):
        super().fail(failure)
        self.tell({"error": failure.told()})

    def tell(self, record):
        if self.report is not None and not self.report.ended:
            self.report.send((to_json(record) + "\n").encode())
            self.report.end()
