"""One HTTP request through the broker: opened, given its body, and read as its answer comes."""

import socket
import time

from . import host

# What one call carries.
_piece = 256 * 1024
_endless_ms = 2**31 - 1


class Request:
    """A request that was made. Every wait takes `timeout` seconds at most, or as long as it takes where that is None."""

    def __init__(self, method, url, headers, body_bytes, timeout):
        self.timeout = timeout
        self.has_body = body_bytes is not None
        self._url = url
        self._connected = False
        self._over = False
        self._id = None
        opened = host.call(
            "http.open",
            {"method": method, "url": url, "headers": headers, "bodyBytes": body_bytes, "decode": False},
        )
        if "error" in opened:
            raise self._failure(opened["error"])
        self._id = opened["request"]
        # What refuses the connection is raised here, where callers look for it.
        self.take()
        self._connected = True

    def send(self, data, last=False):
        """Gives a piece of the body, waiting while the host does not take more."""
        view = memoryview(data).cast("B")
        for start in range(0, len(view), _piece) or (0,):
            part = bytearray(view[start : start + _piece])
            host.send("http.send", part, self._id, last and start + _piece >= len(view))
            # One that has ended the wait is raised here; the piece is taken all the same.
            host.check_signals()

    def head(self):
        """What the answer begins with: status, reason, headers, url."""
        return self.take()["head"]

    def read_into(self, buffer):
        """Fills the front of the buffer with what comes next, and gives its size: 0 at the end."""
        if self._over:
            return 0
        news = self.take(buffer)
        return 0 if self._over else news

    def take(self, buffer=None):
        """Waits for what comes next: a number of bytes in the buffer, or an event."""
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        most = 0 if buffer is None else min(len(buffer), _piece)
        while True:
            ms = _endless_ms if deadline is None else max(0, (deadline - time.monotonic()) * 1000)
            args = ("http.take", self._id, ms, most)
            news = host.call(*args) if buffer is None else host.receive(args[0], buffer, *args[1:])
            if news is None:
                self.close()
                raise TimeoutError("timed out")
            if isinstance(news, int):
                return news
            if "interrupted" not in news:
                return self._event(news)
            host.check_signals()

    def close(self):
        """Ends it, whatever it is at. Idempotent."""
        if not self._over and self._id is not None:
            host.call("http.close", self._id)
        self._over = True

    def _event(self, news):
        self._over = "end" in news or "error" in news
        if "error" in news:
            raise self._failure(news["error"])
        return news

    def _failure(self, failure):
        """The exception by which programs know this kind of failure."""
        code, message = failure["code"], failure["message"]
        if code == "ENOTFOUND":
            return socket.gaierror(socket.EAI_NONAME, message)
        if code == "EPROTO" and self._url.startswith("https:") and not self._connected:
            import ssl

            kind = ssl.SSLCertVerificationError if "certificate" in message else ssl.SSLError
            return kind(1, message)
        return _kinds.get(code, ConnectionError)(message)


_kinds = {
    "ECONNREFUSED": ConnectionRefusedError,
    "ECONNRESET": ConnectionResetError,
    "ETIMEDOUT": TimeoutError,
    "EFBIG": OSError,
    "EINVAL": ValueError,
}
