"""The network as programs look for it: HTTP by the usual libraries, which the broker's owner does; nothing by sockets."""

import errno
import socket
import sys
import types

from . import http_clients
from .patches import Patches

_no_sockets = "a sandbox has no sockets: HTTP and HTTPS go through urllib, http.client, requests or httpx"


def install():
    """Has the libraries that speak HTTP do it through the broker, each when it is imported."""
    for name in ("connect", "connect_ex", "bind", "sendto"):
        setattr(socket.socket, name, _refuse)
    patches = {
        "http.client": http_clients.patch_http_client,
        "urllib3.connection": http_clients.patch_urllib3,
        "httpx._transports.default": http_clients.patch_httpx,
    }
    for name in patches.keys() & sys.modules.keys():
        patches[name](sys.modules[name])
    Patches(patches).install()
    # Imported by urllib3 in WebAssembly, to put requests of a browser in the place of its connections.
    browser = types.ModuleType("urllib3.contrib.emscripten")
    browser.inject_into_urllib3 = lambda: None
    sys.modules[browser.__name__] = browser


def _refuse(self, *args):
    raise OSError(errno.ENETUNREACH, _no_sockets)
