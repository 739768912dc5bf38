"""Attacks on the network: what can be reached, asked or named from inside."""

import os
import socket
import struct

from attack import MARK, Tries, attack, read, run_attacks

PORT = int(os.environ.get("SANDKIT_BAIT_PORT", "0"))
ADDRESSES = os.environ.get("SANDKIT_BAIT_ADDRESSES", "").split()
ABSTRACT = os.environ.get("SANDKIT_BAIT_ABSTRACT", "")
METADATA = ("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254")
OUTSIDE = (("1.1.1.1", 443), ("8.8.8.8", 53), ("2606:4700:4700::1111", 443))
PATIENCE = 1.0
ANY_CID, HOST_CID = 0xFFFFFFFF, 2


def connect(host, port):
    socket.create_connection((host, port), PATIENCE).close()
    return "connected"


def ask(url):
    """By HTTP, as a program would: by what its environment says of proxies."""
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as page:
            return f"answered {page.status}"
    except urllib.error.HTTPError as answer:
        # A proxy on the way says that it was the one who refused; anybody else was reached.
        if answer.headers.get("Proxy-Status"):
            raise OSError(0, f"refused by the proxy: {answer.code}") from answer
        return f"answered {answer.code}"


def gateway():
    try:
        for line in read("/proc/net/route").decode().splitlines()[1:]:
            fields = line.split()
            if fields[1] == "00000000":
                return [socket.inet_ntoa(struct.pack("<I", int(fields[2], 16)))]
    except OSError:
        pass  # no network of its own, so no way out of it
    return []


@attack("network.host")
def host():
    tries = Tries()
    for address in [*ADDRESSES, *gateway(), "host.docker.internal"]:
        tries.attempt(f"{address}:{PORT}", lambda address=address: connect(address, PORT))
        tries.attempt(f"http://{address}:{PORT}", lambda address=address: ask(f"http://{address}:{PORT}/"))
    return tries.outcome()


@attack("network.metadata")
def metadata():
    tries = Tries()
    for address in METADATA:
        tries.attempt(address, lambda address=address: connect(address, 80))
    tries.attempt("http://169.254.169.254/", lambda: ask("http://169.254.169.254/latest/meta-data/"))
    return tries.outcome()


@attack("network.outside")
def outside():
    tries = Tries()
    for address, port in OUTSIDE:
        tries.attempt(f"{address}:{port}", lambda address=address, port=port: connect(address, port))
    tries.attempt("http://1.1.1.1/", lambda: ask("http://1.1.1.1/"))
    return tries.outcome()


@attack("network.interfaces")
def interfaces():
    try:
        names = [line.split(":")[0].strip() for line in read("/proc/net/dev").decode().splitlines()[2:]]
    except OSError:
        return False, "there are no interfaces here"
    # Tunnels that the kernel itself puts into every network namespace, without an address and down.
    others = [name for name in names if name != "lo" and is_up(name)]
    return bool(others), f"interfaces: {', '.join(others or names)}"


def is_up(name):
    try:
        return int(read(f"/sys/class/net/{name}/flags"), 16) & 1 == 1
    except OSError:
        return True  # not to be seen: taken for one that works


@attack("network.names")
def names():
    tries = Tries()
    made_up = resolves(f"{MARK}.invalid")
    if made_up:
        tries.refuse("example.com", "the answer is made up inside, as for a name that does not exist")
    else:
        tries.attempt("example.com", lambda: socket.getaddrinfo("example.com", 443)[0][4][0])
    for server in name_servers():
        tries.attempt(f"a question to {server}", lambda server=server: question(server))
    return tries.outcome()


def resolves(name):
    try:
        return bool(socket.getaddrinfo(name, 443))
    except OSError:
        return False


def name_servers():
    try:
        lines = read("/etc/resolv.conf").decode().splitlines()
    except OSError:
        lines = []
    return [*(line.split()[1] for line in lines if line.startswith("nameserver ")), "8.8.8.8", "127.0.0.11"]


def question(server):
    query = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + b"\x07example\x03com\x00" + struct.pack(">HH", 1, 1)
    kind = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(kind, socket.SOCK_DGRAM) as client:
        client.settimeout(PATIENCE)
        client.sendto(query, (server, 53))
        return f"{len(client.recv(512))} bytes of answer"


@attack("network.raw")
def raw():
    tries = Tries()
    tries.attempt("a raw socket", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close())
    if hasattr(socket, "AF_PACKET"):
        tries.attempt("a packet socket", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close())
    return tries.outcome()


@attack("network.vsock")
def vsock():
    if not hasattr(socket, "AF_VSOCK"):
        return False, "there is no AF_VSOCK here"
    try:
        client = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    except OSError as error:
        return False, f"to make one: {error.strerror}"
    with client:
        client.settimeout(PATIENCE)
        try:
            client.connect((HOST_CID, PORT or 1))
        except OSError as error:
            return True, f"made a socket to the machine under it; to connect: {error.strerror or error}"
        return True, "connected to the machine under it"


@attack("network.abstract")
def abstract():
    if not hasattr(socket, "AF_UNIX"):
        return False, "there are no Unix sockets here"
    if not ABSTRACT:
        return False, "this machine has no abstract sockets"
    tries = Tries()
    # Programs disagree on whether the zeros after a name belong to it.
    for what, name in (("its name", "\0" + ABSTRACT), ("its name and zeros", ("\0" + ABSTRACT).ljust(108, "\0"))):
        tries.attempt(what, lambda name=name: connect_unix(name))
    return tries.outcome()


def connect_unix(name):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(name)
    return "connected"


run_attacks()
