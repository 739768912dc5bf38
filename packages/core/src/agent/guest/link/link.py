"""The guest's end of the link: carries one host's bytes over a terminal to the detached agent of the box, and back.

Run by loader.py on the terminal, which is raw by then. remote/packets.ts is the specification. It keeps what the host
has not acknowledged, so that a connection to the terminal may break and another go on where it was.
"""

import os
import select
import time

from _json import encode_basestring_ascii as quoted

from .daemon import Account, reach_agent
from .packets import DATA, END, LOST, MAX_PAYLOAD, Received, Sent, packet, resumption
from .reach import connect_once, hide

# Unacknowledged in one direction; the host has as much for the other.
WINDOW = 1024 * 1024
# What an agent that does not read may leave here: more than a host sends without being told that it was taken.
MAX_WAITING = 4 * WINDOW
ACKNOWLEDGE_BYTES = 128 * 1024
TICK_SECONDS = 5
TERMINAL = 0


class Link:
    def __init__(self, agent, key, silent_seconds, rest):
        self.agent = agent
        # So long without a word of the host: it is dead, or the way to it.
        self.silent_seconds = silent_seconds
        self.received = Received(key)
        self.rest = rest
        self.sent = Sent()
        # What is being written to the terminal, and to be written before all else.
        self.writing = []
        self.urgent = []
        self.expected = 0
        self.told = 0
        self.for_agent = []
        self.waiting = 0
        self.silent = 0.0
        self.agent_ended = False
        self.end_told = False
        self.over = False
        self.poller = select.poll()
        self.masks = {}
        for descriptor in (TERMINAL, agent):
            os.set_blocking(descriptor, False)

    def watch(self, descriptor, mask):
        if self.masks.get(descriptor) != mask:
            self.masks[descriptor] = mask
            self.poller.register(descriptor, mask)

    def run(self):
        self.hear(self.rest)
        last = time.monotonic()
        while not self.over:
            self.write()
            self.interest()
            events = self.poller.poll(min(TICK_SECONDS, self.silent_seconds) * 1000)
            now = time.monotonic()
            # A box that was frozen finds one tick, not many.
            self.silent += min(now - last, TICK_SECONDS)
            last = now
            for descriptor, mask in events:
                self.ready(descriptor, mask)
            if self.silent >= self.silent_seconds:
                return

    def interest(self):
        wanted = select.POLLIN if self.waiting < MAX_WAITING else 0
        self.watch(TERMINAL, wanted | (select.POLLOUT if self.writing else 0))
        if not self.agent_ended:
            room = self.sent.end - self.sent.acknowledged < WINDOW
            self.watch(self.agent, (select.POLLIN if room else 0) | (select.POLLOUT if self.for_agent else 0))

    def ready(self, descriptor, mask):
        if descriptor == self.agent:
            if mask & select.POLLOUT:
                self.feed_agent()
            if mask & ~select.POLLOUT and not self.agent_ended:
                self.read_agent()
        elif mask & select.POLLIN:
            self.read_terminal()
        elif mask & ~select.POLLOUT:
            self.over = True

    def read_terminal(self):
        try:
            data = os.read(TERMINAL, 64 * 1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.over = True
            return
        self.silent = 0.0
        self.hear(data)

    def hear(self, data):
        for name, *values in self.received.feed(data):
            if name == "resume":
                self.resume(*values)
            elif name == "packet":
                self.take(*values)
            else:
                self.urgent += packet(LOST, self.sent.end, self.expected)
        self.feed_agent()

    def resume(self, nonce, received):
        # A packet that was cut off by this is skipped by the host.
        self.sent.rewind(received)
        self.urgent = []
        self.end_told = False
        self.writing = [resumption(nonce, self.expected)]
        self.told = self.expected

    def take(self, kind, offset, received, payload):
        self.sent.acknowledge(received)
        if kind == END:
            self.over = True
        elif offset > self.expected:
            # Something between was lost.
            self.received.lost = True
            self.urgent += packet(LOST, self.sent.end, self.expected)
        else:
            fresh = payload[self.expected - offset :]
            if fresh:
                self.expected += len(fresh)
                self.waiting += len(fresh)
                self.for_agent.append(fresh)

    def feed_agent(self):
        while self.for_agent and not self.agent_ended:
            try:
                written = os.write(self.agent, self.for_agent[0])
            except BlockingIOError:
                break
            except OSError:
                # It has ended. What it said before that, and why, is read still.
                self.for_agent.clear()
                self.waiting = 0
                return
            self.waiting -= written
            if written == len(self.for_agent[0]):
                self.for_agent.pop(0)
            else:
                self.for_agent[0] = self.for_agent[0][written:]
        if self.expected - self.waiting - self.told >= ACKNOWLEDGE_BYTES:
            self.acknowledge()

    def acknowledge(self):
        self.told = self.expected - self.waiting
        self.urgent += packet(DATA, self.sent.end, self.told)

    def read_agent(self):
        try:
            data = os.read(self.agent, MAX_PAYLOAD)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.sent.add(data)
        else:
            self.end_agent()

    def end_agent(self):
        """All that it said is sent still, then that it has ended."""
        self.agent_ended = True
        self.poller.unregister(self.agent)
        self.for_agent.clear()

    def write(self):
        while True:
            if not self.writing and not self.fill():
                return
            try:
                count = os.writev(TERMINAL, self.writing)
            except BlockingIOError:
                return
            except OSError:
                self.over = True
                return
            while self.writing and count >= len(self.writing[0]):
                count -= len(self.writing.pop(0))
            if count:
                self.writing[0] = memoryview(self.writing[0])[count:]

    def fill(self):
        if self.urgent:
            self.writing, self.urgent = self.urgent, []
            return True
        chunk = self.sent.take()
        self.told = self.expected - self.waiting
        if chunk is not None:
            self.writing = packet(DATA, chunk[0], self.told, chunk[1])
            return True
        if self.agent_ended and not self.end_told:
            self.end_told = True
            self.writing = packet(END, self.sent.end, self.told)
            return True
        return False


def tell(nonce, word, **facts):
    members = ",".join(quoted(name) + ":" + quoted(value) for name, value in facts.items())
    line = ("\nSANDKIT:%s %s {%s}\n" % (nonce, word, members)).encode()
    while line:
        line = line[os.write(TERMINAL, line) :]


def main(config, boot, parts, rest):
    hide()
    nonce, key, name, user, silent_ms, start = config.decode().split("\n")
    try:
        account = Account(user)
        agent = reach_agent(account, name, boot.decode(), parts) if start else connect_once(name)
    except ConnectionRefusedError:
        tell(nonce, "gone")
        os._exit(1)
    except OSError as problem:
        tell(nonce, "failed", message=str(problem))
        os._exit(1)
    tell(nonce, "link", user=account.name, home=account.home, cwd=os.getcwd())
    Link(agent, bytes.fromhex(key), int(silent_ms) / 1000, rest).run()
    os._exit(0)


# Left here by the loader.
main(config, parts[1], parts[2:], data)
