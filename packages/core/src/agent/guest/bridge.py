"""Carries one client's bytes to the detached agent of the same box, and back; ends with either of them.

    bridge.py [NAME]

Run inside the box by root, whom the agent believes. It holds one chunk of each direction at most.
"""

import os
import select
import sys

from .reach import connect, hide

CHUNK = 256 * 1024


class Flow:
    """One direction."""

    def __init__(self, source, sink):
        self.source = source
        self.sink = sink
        self.held = b""

    def interest(self):
        return (self.sink, select.POLLOUT) if self.held else (self.source, select.POLLIN)

    def step(self):
        """False at the end."""
        try:
            if not self.held:
                self.held = memoryview(os.read(self.source, CHUNK))
                if not self.held:
                    return False
            self.held = self.held[os.write(self.sink, self.held) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


def relay(agent):
    flows = [Flow(0, agent), Flow(agent, 1)]
    for descriptor in (0, 1, agent):
        os.set_blocking(descriptor, False)
    while True:
        poller = select.poll()
        masks = {}
        for flow in flows:
            descriptor, mask = flow.interest()
            masks[descriptor] = masks.get(descriptor, 0) | mask
        for descriptor, mask in masks.items():
            poller.register(descriptor, mask)
        poller.poll()
        if not all([flow.step() for flow in flows]):
            return


hide()
try:
    channel = connect(*sys.argv[1:])
except OSError as problem:
    sys.stderr.write("sandkit bridge: no agent answers in this box: %s\n" % problem)
    os._exit(1)
relay(channel)
os._exit(0)
