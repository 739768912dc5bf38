"""Lanes of a stream: bytes of one direction each, as far as credit goes."""

import fcntl
import os
import select
import sys

from .wire import CANCEL, CREDIT, DATA, END, WINDOW, ProtocolError

CHUNK = 64 * 1024
GRANT = WINDOW // 4
FIONREAD = 0x541B
F_SETPIPE_SZ = 1031
WIDE_PIPE = 256 * 1024
# How long a terminal may take to hand over what its program wrote.
TERMINAL_SECONDS = 0.05


def pending(descriptor):
    """How many bytes can be read now."""
    count = bytearray(4)
    fcntl.ioctl(descriptor, FIONREAD, count)
    return int.from_bytes(count, sys.byteorder)


class OutLane:
    """To the host. `wake` is called when more may be sent, or nobody wants it any more."""

    def __init__(self, stream, number):
        self.stream = stream
        self.number = number
        self.credit = WINDOW
        self.total = 0
        self.cancelled = False
        self.ended = False

    def grant(self, size):
        if self.credit + size > WINDOW:
            raise ProtocolError("lane %d of stream %d was granted what it had not sent" % (self.number, self.stream.number))
        self.credit += size
        self.wake()

    def cancel(self):
        self.cancelled = True
        self.wake()

    def send(self, data):
        self.total += len(data)
        if not self.cancelled:
            self.credit -= len(data)
            self.stream.send(DATA, self.number, data)

    def end(self, missing=0):
        """With `missing` the total is not what was sent: something failed on the way."""
        if not self.ended:
            self.ended = True
            self.stream.send(END, self.number, (self.total + missing).to_bytes(8, "big"))
            self.stream.settle()

    def is_over(self):
        return self.ended

    def abort(self):
        self.end(missing=1)

    def has_room(self):
        """Whether something may be sent now; if not, `wake` is called later."""
        return self.credit > 0 and self.stream.client.has_room(self)

    def wake(self):
        raise NotImplementedError


class InLane:
    """From the host: checked and counted here, then handed to `arrived` and `finished`."""

    def __init__(self, stream, number):
        self.stream = stream
        self.number = number
        self.window = WINDOW
        self.total = 0
        self.owed = 0
        self.ended = False
        self.refused = False

    def data(self, payload):
        if self.ended:
            raise ProtocolError("data on lane %d of stream %d after its end" % (self.number, self.stream.number))
        self.window -= len(payload)
        self.total += len(payload)
        if self.refused:
            # It was under way when the lane was refused: whatever its amount, it is dropped.
            return
        if self.window < 0:
            raise ProtocolError("lane %d of stream %d overran its credit" % (self.number, self.stream.number))
        self.arrived(payload)

    def end(self, total):
        if self.ended:
            raise ProtocolError("lane %d of stream %d ended twice" % (self.number, self.stream.number))
        if total != self.total:
            raise ProtocolError(
                "lane %d of stream %d: %d bytes of %d came" % (self.number, self.stream.number, self.total, total)
            )
        self.ended = True
        if not self.refused:
            self.finished()

    def handed_on(self, size):
        self.owed += size
        if self.owed >= GRANT and not self.ended:
            self.window += self.owed
            self.stream.send(CREDIT, self.number, self.owed.to_bytes(4, "big"), urgent=True)
            self.owed = 0

    def refuse(self):
        """Wants no more of it."""
        if not self.ended and not self.refused:
            self.refused = True
            self.stream.send(CANCEL, self.number, b"", urgent=True)

    def is_over(self):
        return self.ended or self.refused

    def abort(self):
        self.refuse()

    def cancel(self):
        raise ProtocolError("lane %d of stream %d cannot be taken back" % (self.number, self.stream.number))

    def arrived(self, payload):
        raise NotImplementedError

    def finished(self):
        raise NotImplementedError


class ProgramInput(InLane):
    """Feeds a descriptor of a program. At most one window waits here."""

    def __init__(self, stream, number, descriptor, terminal=False):
        super().__init__(stream, number)
        self.loop = stream.agent.loop
        self.descriptor = descriptor
        self.terminal = terminal
        self.waiting = []
        self.last = b"\n"
        os.set_blocking(descriptor, False)

    def arrived(self, payload):
        if self.descriptor is None:
            return
        self.waiting.append(memoryview(payload))
        self.last = payload[-1:]
        self.write()

    def finished(self):
        if self.terminal and self.descriptor is not None:
            # A terminal has no end of file but its character, which ends a line first when there is one.
            self.waiting.append(memoryview(b"\x04" if self.last == b"\n" else b"\x04\x04"))
        self.write()

    def write(self, _mask=0):
        try:
            while self.waiting:
                written = os.write(self.descriptor, self.waiting[0])
                rest = self.waiting[0][written:]
                if rest:
                    self.waiting[0] = rest
                else:
                    self.waiting.pop(0)
                if not self.ended:
                    self.handed_on(written)
        except BlockingIOError:
            pass
        except OSError:
            # The program reads no more.
            self.close()
            return
        if self.waiting:
            self.loop.watch(self.descriptor, select.POLLOUT, self.stream, self.write)
        elif self.descriptor is not None:
            self.loop.forget(self.descriptor)
            if self.ended and not self.terminal:
                self.close()

    def close(self):
        if self.descriptor is not None:
            self.loop.forget(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = None
        self.waiting.clear()
        self.refuse()


class ProgramOutput(OutLane):
    """Sends what a program writes. After the end it is still read and dropped, so that children can go on."""

    def __init__(self, stream, number, descriptor, terminal=False):
        super().__init__(stream, number)
        self.loop = stream.agent.loop
        self.descriptor = descriptor
        self.terminal = terminal
        # How many bytes still count, once the leader has ended; None before.
        self.left = None
        self.reading_rest = False
        self.timer = None
        self.wide = terminal
        os.set_blocking(descriptor, False)
        self.wake()

    def wake(self):
        if self.descriptor is not None:
            ready = self.ended or self.cancelled or self.has_room()
            rest = ready and self.left is not None and not self.ended
            self.loop.watch(self.descriptor, select.POLLIN if ready and not rest else 0, self.stream, self.read)
            if rest and not self.reading_rest:
                # Unasked: a child may take it out of the pipe, and nothing would tell.
                self.reading_rest = True
                self.loop.soon(self.stream, self.read_rest)

    def read_rest(self):
        self.reading_rest = False
        self.read()

    def read(self, _mask=0):
        """True when something came."""
        size = CHUNK if self.ended or self.cancelled else min(CHUNK, self.credit)
        if self.left is not None and not self.ended:
            size = min(size, self.left)
        if self.descriptor is None or size == 0:
            return False
        try:
            data = os.read(self.descriptor, size)
        except BlockingIOError:
            if self.left is not None:
                # A child has read what was left.
                self.end()
            return False
        except OSError:
            # How a terminal without a program says end of file.
            data = b""
        if not data:
            self.close()
            return False
        if not self.ended:
            self.send(data)
            self.count(len(data))
            self.widen(len(data))
        self.wake()
        self.stream.released()
        return True

    def count(self, size):
        if self.left is not None:
            self.left -= size
            if self.left == 0:
                self.end()

    def widen(self, size):
        """Gives a program that writes much a larger pipe: fewer turns for the same bytes."""
        if not self.wide and size == CHUNK:
            self.wide = True
            try:
                fcntl.fcntl(self.descriptor, F_SETPIPE_SZ, WIDE_PIPE)
            except OSError:
                # The user's allowance for pipes is used up: it goes on as it is.
                pass

    def leader_ended(self):
        """Lets through what is in the pipe now. What a background child adds later is dropped."""
        if self.descriptor is None or self.ended:
            return
        if self.terminal and self.timer is None:
            # A terminal passes on what was written a little later.
            self.timer = self.loop.after(TERMINAL_SECONDS, self.leader_ended)
            return
        self.left = pending(self.descriptor)
        if self.left == 0:
            self.end()
        self.wake()

    def end(self, missing=0):
        super().end(missing)
        self.wake()
        if self.stream.is_gone:
            self.close()

    def close(self):
        if self.descriptor is not None:
            self.loop.forget(self.descriptor)
            if self.timer is not None:
                self.loop.cancel(self.timer)
            os.close(self.descriptor)
            self.descriptor = None
        super().end()
        self.stream.released()

    def tree_gone(self):
        """Nobody writes any more; what still counts is left to be sent."""
        if self.ended:
            self.close()


class ControlOutput(ProgramOutput):
    """What a kernel writes on descriptor 4: held back until what it wrote on 1 and 2 before has been sent."""

    def __init__(self, stream, number, descriptor, before):
        self.before = before
        self.held = b""
        self.marks = []
        super().__init__(stream, number, descriptor)

    def wake(self):
        if self.held and not (self.ended or self.cancelled):
            self.loop.watch(self.descriptor, 0, self.stream, self.read)
        else:
            super().wake()

    def send(self, data):
        self.held = data
        self.marks = [
            (lane, lane.total + pending(lane.descriptor))
            for lane in self.before
            if lane.descriptor is not None and not lane.ended
        ]
        for lane, mark in list(self.marks):
            while lane.total < mark and not lane.ended and (lane.cancelled or lane.has_room()):
                if not lane.read():
                    # The program itself has taken out what it wrote.
                    self.marks.remove((lane, mark))
                    break
        self.release()

    def release(self):
        if self.held and all(lane.ended or lane.total >= mark for lane, mark in self.marks):
            data, self.held = self.held, b""
            super().send(data)
            if self.waits_for_end:
                self.end()
            self.wake()

    @property
    def waits_for_end(self):
        return self.left == 0 or self.descriptor is None

    def end(self, missing=0):
        if not self.held:
            super().end(missing)

    def close(self):
        if self.held and self.descriptor is not None:
            # The end of file has been seen: only what is held is left to be sent.
            self.loop.forget(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = None
        elif not self.held:
            super().close()
