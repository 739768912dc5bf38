"""One thread, one poll. Whatever takes longer than a few milliseconds is done in slices, as a job."""

import os
import select
import time
from _collections import deque

import _signal as signal

SLICE_SECONDS = 0.002


class Timer:
    def __init__(self, when, action):
        self.when = when
        self.action = action


class Loop:
    def __init__(self):
        self.poller = select.poll()
        self.handlers = {}
        self.masks = {}
        self.timers = []
        self.jobs = deque()
        self.signals, self.notify = os.pipe()
        os.set_blocking(self.signals, False)
        os.set_blocking(self.notify, False)

    def watch(self, descriptor, mask, owner, action):
        """Has `action(mask)` called when the descriptor is ready; mask 0 stops that. A fault of it is the owner's."""
        if self.masks.get(descriptor, 0) == mask:
            if mask:
                self.handlers[descriptor] = (owner, action)
            return
        if mask == 0:
            self.forget(descriptor)
            return
        self.poller.register(descriptor, mask)
        self.masks[descriptor] = mask
        self.handlers[descriptor] = (owner, action)

    def forget(self, descriptor):
        if self.masks.pop(descriptor, 0):
            del self.handlers[descriptor]
            self.poller.unregister(descriptor)

    def after(self, seconds, action):
        timer = Timer(time.monotonic() + seconds, action)
        self.timers.append(timer)
        return timer

    def cancel(self, timer):
        if timer in self.timers:
            self.timers.remove(timer)

    def soon(self, owner, action):
        """Has `action` called once in the next turn."""
        self.jobs.append((owner, action))

    def slices(self, owner, steps, finished):
        """Runs a generator in slices, beside everything else, then `finished`."""

        def run():
            if owner.stopped:
                steps.close()
                return
            deadline = time.monotonic() + SLICE_SECONDS
            for waits in steps:
                # A step that yields True waits until its owner calls `resume`.
                if waits:
                    owner.resume = lambda: self.soon(owner, run)
                    return
                if time.monotonic() > deadline:
                    self.soon(owner, run)
                    return
            finished()

        self.soon(owner, run)

    def catch_signals(self, handlers):
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self.notify, warn_on_full_buffer=False)

    def turn(self, deadline):
        """Waits for something to do, until `deadline` at most, and does it. False when nothing came."""
        events = self.poller.poll(self.patience(deadline))
        for descriptor, mask in events:
            owner, action = self.handlers.get(descriptor, (None, None))
            if action is not None:
                guarded(owner, action, mask)
        for _ in range(len(self.jobs)):
            owner, action = self.jobs.popleft()
            guarded(owner, action)
        return self.ring() or bool(events)

    def ring(self):
        if not self.timers:
            return False
        now = time.monotonic()
        due = [timer for timer in self.timers if timer.when <= now]
        for timer in due:
            self.timers.remove(timer)
            timer.action()
        return bool(due)

    def patience(self, deadline):
        if self.jobs:
            return 0
        ends = [timer.when for timer in self.timers]
        if deadline is not None:
            ends.append(deadline)
        if not ends:
            return None
        # A day: poll takes no more than an int of milliseconds.
        return min(max(0, (min(ends) - time.monotonic()) * 1000 + 1), 86_400_000)


def guarded(owner, action, *values):
    try:
        action(*values)
    except Exception as error:
        owner.broken(error)
