"""An asyncio event loop that needs nothing but sleep: there are no sockets and no threads to wait for."""

import asyncio
import asyncio.base_events
import asyncio.events
import asyncio.runners
import concurrent.futures

from . import host


class _Selector:
    """Waits between two turns of the loop; `wait` is what it waits with."""

    def __init__(self):
        self.wait = host.sleep
        self.on_interrupt = None

    def select(self, timeout=None):
        try:
            # An endless wait is cut into days: there is no other sleeper that could wake it but a signal.
            self.wait(86_400 if timeout is None else timeout)
        except KeyboardInterrupt:
            if self.on_interrupt is None:
                raise
            self.on_interrupt()
        return ()


class SandboxLoop(asyncio.base_events.BaseEventLoop):
    """The standard loop with a selector that sleeps."""

    def __init__(self):
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        # Only other threads and signal handlers would need to wake the loop; the first do not exist, the second end
        # the sleep by themselves.
        pass

    def run_in_executor(self, executor, func, *args):
        """Runs the function at once, in this only thread."""
        future = concurrent.futures.Future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return asyncio.wrap_future(future, loop=self)

    def run_interruptible(self, coroutine):
        """Runs a coroutine to its end; an interrupt while it waits is raised where it waits."""
        task = self.create_task(coroutine)
        interrupted = False

        def interrupt():
            nonlocal interrupted
            interrupted = True
            task.cancel()

        self._selector.on_interrupt = interrupt
        try:
            return self.run_until_complete(task)
        except asyncio.CancelledError as error:
            if interrupted:
                raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
            raise
        finally:
            self._selector.on_interrupt = None

    def idle(self, poll):
        """Runs background tasks until `poll(timeout)` gives something, and returns it."""
        found = []

        def wait(timeout):
            answer = poll(timeout)
            if answer is not None:
                found.append(answer)
                self.stop()

        self._selector.wait = wait
        try:
            while not found:
                self.run_forever()
        finally:
            self._selector.wait = host.sleep
        return found[0]


class _Policy(asyncio.events._BaseDefaultEventLoopPolicy):
    _loop_factory = SandboxLoop


def install():
    """Makes this the loop of `asyncio.run` and of everything else."""
    # Pyodide's own hooks want a JavaScript event loop, which stands still while the interpreter runs.
    asyncio.run = asyncio.runners.run = getattr(asyncio.run, "__wrapped__", asyncio.run)
    asyncio.events._set_event_loop_policy(_Policy())
    asyncio.events._set_running_loop(None)
