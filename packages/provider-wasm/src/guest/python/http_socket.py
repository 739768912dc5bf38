"""What `http.client` takes for a connection: it reads the request that is written, and writes the answer."""

import io

from .http_request import Request

# They are about the connection, which is not the program's own.
_dropped = frozenset(("connection", "keep-alive", "proxy-connection"))
_reader_size = 64 * 1024


class HttpSocket:
    """A connection for one request."""

    def __init__(self, scheme, host, port, timeout):
        name = f"[{host}]" if ":" in host and not host.startswith("[") else host
        self._origin = f"{scheme}://{name}:{port}"
        self._timeout = timeout
        self._head = b""
        self._body = None
        self._request = None
        self._files = 0

    def sendall(self, data, flags=0):
        """Takes what is written: the head of the request, then its body."""
        if self._request is None:
            self._head += bytes(data)
            head, mark, data = self._head.partition(b"\r\n\r\n")
            if not mark:
                return
            self._open(head)
        if self._body:
            self._body.write(data)

    def makefile(self, mode="r", buffering=None, **options):
        """The answer, as the bytes that a server would have sent."""
        if mode != "rb":
            raise ValueError(f"a connection of a sandbox is read by makefile('rb'), not {mode!r}")
        return io.BufferedReader(_Answer(self._request), _reader_size)

    def settimeout(self, timeout):
        self._timeout = timeout
        if self._request:
            self._request.timeout = timeout

    def gettimeout(self):
        return self._timeout

    def setsockopt(self, *args):
        """Has no meaning here, and no effect that a program could see."""

    def shutdown(self, how):
        self.close()

    def close(self):
        """An answer that is being read goes on, as with the sockets of Python; it ends with its file."""
        if self._request and not self._request.read:
            self._request.close()

    def _open(self, head):
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        if not target.startswith("/"):
            raise ConnectionError(f"{target}: a sandbox has no proxies: unset HTTP_PROXY and HTTPS_PROXY")
        headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        known = {name.lower(): value for name, value in headers}
        chunked = known.get("transfer-encoding", "").lower() == "chunked"
        size = -1 if chunked else int(known["content-length"]) if "content-length" in known else None
        made = {*_dropped, "transfer-encoding"} if chunked else _dropped
        kept = [header for header in headers if header[0].lower() not in made]
        self._request = _TakenRequest(method, self._origin + target, kept, size, self._timeout)
        if size is not None:
            self._body = _ChunkedBody(self._request) if chunked else _SizedBody(self._request, size)


class _TakenRequest(Request):
    """A request that knows whether its answer has a reader."""

    read = False


class _SizedBody:
    def __init__(self, request, size):
        self._request = request
        self._left = size
        if size == 0:
            request.send(b"", last=True)

    def write(self, data):
        if len(data) > 0:
            self._left -= memoryview(data).nbytes
            self._request.send(data, last=self._left <= 0)


class _ChunkedBody:
    """Takes the frames off: the connection that there is in truth has its own."""

    def __init__(self, request):
        self._request = request
        self._pending = b""
        # Of the chunk that is being read, with the line break at its end.
        self._left = 0

    def write(self, data):
        self._pending += bytes(data)
        while self._pending:
            if self._left > 2:
                part = self._pending[: self._left - 2]
                self._request.send(part)
                self._skip(len(part))
            elif self._left > 0:
                self._skip(min(self._left, len(self._pending)))
            elif not self._begin():
                return

    def _skip(self, count):
        self._pending = self._pending[count:]
        self._left -= count

    def _begin(self):
        line, mark, rest = self._pending.partition(b"\r\n")
        if not mark:
            return False
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            self._pending = b""
            self._request.send(b"", last=True)
            return False
        self._pending = rest
        self._left = size + 2
        return True


class _Answer(io.RawIOBase):
    """The bytes of an answer over a connection that ends with it."""

    def __init__(self, request):
        self._request = request
        request.read = True
        self._front = b""
        self._begun = False

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._begun:
            self._front = _head_bytes(self._request.head())
            self._begun = True
        if not self._front:
            return self._request.read_into(buffer)
        count = min(len(buffer), len(self._front))
        buffer[:count] = self._front[:count]
        self._front = self._front[count:]
        return count

    def close(self):
        if not self.closed:
            self._request.close()
        super().close()


def _head_bytes(head):
    made = {*_dropped, "transfer-encoding"}
    headers = [f"{name}: {value}\r\n" for name, value in head["headers"] if name.lower() not in made]
    text = f"HTTP/1.1 {head['status']} {head['reason']}\r\n{''.join(headers)}Connection: close\r\n\r\n"
    return text.encode("latin-1", "replace")
