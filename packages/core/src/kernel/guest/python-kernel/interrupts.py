"""SIGINT: a KeyboardInterrupt in the cell that runs, and nothing between cells."""

# The public module wraps these in enums, whose import costs as much as the rest of the start.
import _signal as signal
from _thread import get_ident


class Interrupts:
    """When an interrupt is let through. At other times it is dropped, or waits."""

    def __init__(self):
        self._running = False
        self._holds = 0
        self._waiting = False
        self._thread = get_ident()
        self._handler = self._on_signal
        # Asked before an interrupt is raised; true when it has been taken care of.
        self.redirect = None

    def arm(self):
        """Takes the signal back from what a cell has made of it."""
        if signal.getsignal(signal.SIGINT) is not self._handler:
            signal.signal(signal.SIGINT, self._handler)

    def _on_signal(self, number, frame):
        if not self._running:
            return
        if self._holds:
            self._waiting = True
        elif self.redirect is None or not self.redirect(frame):
            raise KeyboardInterrupt

    def during(self, action, *args):
        """Calls the action; an interrupt is raised in it."""
        self._running = True
        try:
            return action(*args)
        finally:
            self._running = False

    def stop(self):
        """From now on nothing is raised."""
        self._running = False
        self._waiting = False

    def held(self):
        """A context in which an interrupt waits for its end."""
        return self

    def __enter__(self):
        # Signals are handled in the first thread alone.
        if get_ident() == self._thread:
            self._holds += 1

    def __exit__(self, *failure):
        if get_ident() != self._thread:
            return
        self._holds -= 1
        if self._waiting and not self._holds:
            self._waiting = False
            if self._running:
                raise KeyboardInterrupt
