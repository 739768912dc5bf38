"""What all streams have in common."""

from .native import Failure, to_json
from .wire import EVENT, RESPONSE


class Stream:
    # For jobs: the client has left, or the stream was given up.
    stopped = False

    def __init__(self, client, number):
        self.client = client
        self.agent = client.agent
        self.number = number
        self.lanes = {}
        self.answered = False
        self.silent = False

    def send(self, kind, lane, payload, urgent=False):
        if not self.silent:
            self.client.send(kind, lane, self.number, payload, urgent)

    def answer(self, message):
        if not self.answered:
            self.answered = True
            self.send(RESPONSE, 0, to_json(message).encode(), urgent=True)
            self.settle()

    def respond(self, value):
        self.answer({"ok": value})

    def refuse(self, failure):
        self.answer({"error": failure.told()})

    def event(self, message):
        self.send(EVENT, 0, to_json(message).encode(), urgent=True)

    def is_over(self):
        return self.answered and all(lane.is_over() for lane in self.lanes.values())

    def settle(self):
        if self.is_over():
            self.client.over(self)

    def released(self):
        """Bytes have left a lane."""

    def broken(self, error):
        """Something failed that nobody foresaw: this stream ends by it, and no other."""
        self.refuse(Failure.of(error))
        for lane in list(self.lanes.values()):
            lane.abort()
        self.settle()

    def client_left(self):
        self.stopped = True
