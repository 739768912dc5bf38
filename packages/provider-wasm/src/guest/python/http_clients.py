"""The libraries that speak HTTP, made to do it through the broker."""

import contextlib
import socket

from .http_request import Request
from .http_socket import HttpSocket

_piece = 64 * 1024


def patch_http_client(module):
    """`http.client`, and `urllib.request` with it."""
    module.HTTPConnection.connect = _connect_plain
    module.HTTPSConnection.connect = _connect_secure


def patch_urllib3(module):
    """`urllib3`, and `requests` with it: their connections are those of `http.client`, connected by themselves."""
    module.HTTPConnection.connect = _connect_plain

    def connect_verified(self):
        _connect_secure(self)
        self.is_verified = True

    module.HTTPSConnection.connect = connect_verified


def _connect_plain(self):
    _connect(self, "http")


def _connect_secure(self):
    _connect(self, "https")


def _connect(connection, scheme):
    if connection._tunnel_host:
        raise ConnectionError("a sandbox has no proxies: unset HTTP_PROXY and HTTPS_PROXY")
    timeout = connection.timeout
    if timeout is socket._GLOBAL_DEFAULT_TIMEOUT:
        timeout = socket.getdefaulttimeout()
    connection.sock = HttpSocket(scheme, connection.host, connection.port, timeout)


def patch_httpx(module):
    """`httpx`, whose transports make no connections of `http.client`. An asynchronous one waits as the other does."""

    class Body(module.SyncByteStream, module.AsyncByteStream):
        def __init__(self, request):
            self._request = request

        def __iter__(self):
            buffer = bytearray(_piece)
            with _errors_of(module, "Read"):
                while count := self._request.read_into(buffer):
                    yield bytes(buffer[:count])

        async def __aiter__(self):
            for part in self:
                yield part

        def close(self):
            self._request.close()

        async def aclose(self):
            self.close()

    def respond(request, parts):
        sent = _open(module, request)
        if sent.has_body:
            with _errors_of(module, "Write"):
                for part in parts:
                    sent.send(part)
                sent.send(b"", last=True)
        sent.timeout = request.extensions.get("timeout", {}).get("read")
        with _errors_of(module, "Read"):
            head = sent.head()
        return module.Response(
            status_code=head["status"],
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]],
            stream=Body(sent),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": head["reason"].encode("latin-1")},
        )

    async def respond_async(self, request):
        return respond(request, [part async for part in request.stream])

    async def close_async(self, *exception):
        return None

    async def enter_async(self):
        return self

    module.HTTPTransport.__init__ = module.AsyncHTTPTransport.__init__ = _refuse_proxies
    module.HTTPTransport.handle_request = lambda self, request: respond(request, request.stream)
    module.HTTPTransport.close = lambda self: None
    module.HTTPTransport.__enter__ = lambda self: self
    module.HTTPTransport.__exit__ = lambda self, *exception: None
    module.AsyncHTTPTransport.handle_async_request = respond_async
    module.AsyncHTTPTransport.aclose = module.AsyncHTTPTransport.__aexit__ = close_async
    module.AsyncHTTPTransport.__aenter__ = enter_async


def _refuse_proxies(self, *args, proxy=None, uds=None, **options):
    if proxy is not None or uds is not None:
        raise ValueError("a sandbox has no proxies and no sockets: leave proxy and uds out, and unset HTTP_PROXY")


def _open(module, request):
    size = -1 if "transfer-encoding" in request.headers else request.headers.get("content-length")
    size = int(size) if size else None
    dropped = {b"connection", b"transfer-encoding"}
    headers = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in request.headers.raw if n.lower() not in dropped]
    timeout = request.extensions.get("timeout", {}).get("connect")
    with _errors_of(module, "Connect"):
        # An empty body has nothing to be sent, and its length is made where the request is.
        return Request(request.method, str(request.url), headers, size or None, timeout)


@contextlib.contextmanager
def _errors_of(module, what):
    """Failures as httpx names them, by what it was doing."""
    import httpx

    try:
        yield
    except TimeoutError as error:
        raise getattr(httpx, f"{what}Timeout")(str(error)) from error
    except (OSError, ValueError) as error:
        raise getattr(httpx, f"{what}Error")(str(error)) from error
