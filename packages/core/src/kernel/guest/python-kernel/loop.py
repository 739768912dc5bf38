"""The event loop of top-level `await`. It lives as long as the kernel, and its tasks go on between cells."""

import sys

from .imports import from_library

# Of a task that does not take its end for an answer; each but the first follows another interrupt.
_most_cancellations = 5


class Loop:
    """An asyncio loop, made when the first cell needs it: its import takes longer than the start of the kernel."""

    def __init__(self, interrupts):
        self._interrupts = interrupts
        self._loop = None
        # What the cell waits for.
        self._task = None

    def prepare(self, code):
        """Makes the loop the current one for a cell that may ask for it; `asyncio.run` leaves none behind."""
        if self._loop is not None or "asyncio" in code:
            self._asyncio().set_event_loop(self._get())

    def run(self, coroutine):
        """Runs a coroutine to its end; an interrupt while it waits is raised where it waits."""
        asyncio, loop = self._asyncio(), self._get()
        asyncio.set_event_loop(loop)
        interrupted = False

        def redirect(frame):
            nonlocal interrupted
            if not _only_waits(frame):
                return False
            interrupted = True
            loop.call_soon_threadsafe(task.cancel)
            return True

        # No interrupt may come between the task and the knowledge of it.
        with self._interrupts.held():
            task = self._task = loop.create_task(coroutine)
            self._interrupts.redirect = redirect
        try:
            return loop.run_until_complete(task)
        except asyncio.CancelledError as error:
            if interrupted:
                raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
            raise
        finally:
            self._interrupts.redirect = None

    def settle(self):
        """Ends what an interrupt has left of the cell's own task: between cells it would go on, with nothing to stop it."""
        self._interrupts.redirect = None
        task, self._task = self._task, None
        for _ in range(_most_cancellations):
            if task is None or task.done() or self._loop.is_closed():
                return
            task.cancel()
            try:
                self._interrupts.during(self._loop.run_until_complete, task)
            except BaseException:
                # The interrupt is what the cell reports; this is the same task coming to its end.
                pass

    def idle(self, source):
        """Runs what cells have left in the loop until there is something to read from `source`."""
        loop = self._loop
        if loop is None or loop.is_closed() or not self._asyncio().all_tasks(loop):
            return
        loop.add_reader(source, loop.stop)
        try:
            loop.run_forever()
        finally:
            loop.remove_reader(source)

    def forget(self):
        """In a fork: the loop belongs to the other process."""
        self._loop = self._task = None

    def _asyncio(self):
        return sys.modules.get("asyncio") or from_library("asyncio")

    def _get(self):
        if self._loop is None or self._loop.is_closed():
            self._loop = self._asyncio().new_event_loop()
        return self._loop


def _only_waits(frame):
    """Whether nothing of the user is on the stack above `Loop.run`."""
    while frame is not None and frame.f_code is not Loop.run.__code__:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith(("asyncio.", "selectors", "_sandkit")):
            return False
        frame = frame.f_back
    return True
