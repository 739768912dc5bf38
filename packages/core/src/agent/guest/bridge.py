"""Carries one client's bytes to the detached agent of the same box, and back; ends with either of them.

    bridge.py [NAME]

Run inside the box by root, whom the agent believes. It holds one chunk of each direction at most.
"""

import os
import select
import sys
import time

import _ctypes
import _socket as socket

SOCKET_NAME = "sandkit-agent"
CHUNK = 256 * 1024
START_SECONDS = 10
RETRY_SECONDS = 0.01
PR_SET_DUMPABLE = 4
RTLD_NOW = 2


class _Int(_ctypes._SimpleCData):
    _type_ = "i"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL
    _restype_ = _Int


def hide():
    """What passes through must not be read by others of the box."""
    prctl = _Function(_ctypes.dlsym(_ctypes.dlopen(None, RTLD_NOW), "prctl"))
    if prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError("prctl(PR_SET_DUMPABLE) failed")


def connect(name=SOCKET_NAME):
    """The agent may be starting still."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        agent = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            agent.connect(b"\0" + name.encode())
            return agent.detach()
        except ConnectionRefusedError:
            agent.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)


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
