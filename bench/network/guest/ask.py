"""ask.py HOST PORT PROXY CALLS BYTES: what requests and a download take, by a proxy at this port of the box or (-)
directly, in milliseconds as JSON."""

import http.client
import json
import sys
import time

host, port, proxy = sys.argv[1], int(sys.argv[2]), sys.argv[3]
calls, size = int(sys.argv[4]), int(sys.argv[5])
SMALL, UNCOUNTED = 1000, 3
piece = bytearray(1024 * 1024)


def connect():
    direct = proxy == "-"
    return http.client.HTTPConnection(host, port) if direct else http.client.HTTPConnection("127.0.0.1", int(proxy))


def read(connection, address, count):
    connection.request("GET", address)
    answer = connection.getresponse()
    left = count
    while left > 0:
        came = answer.readinto(piece)
        if came == 0:
            raise SystemExit("%d of %d bytes are missing" % (left, count))
        left -= came
    answer.read()


def on_its_own(count):
    connection = connect()
    if proxy != "-":
        connection.set_tunnel(host, port)
    read(connection, "/%d" % count, count)
    connection.close()


def timed(work, *values):
    start = time.perf_counter()
    work(*values)
    return (time.perf_counter() - start) * 1000


def many(work, *values):
    # The first are of code that is not warm.
    return [timed(work, *values) for _ in range(calls + UNCOUNTED)][UNCOUNTED:] if calls else []


address = "/%d" % SMALL if proxy == "-" else "http://%s:%d/%d" % (host, port, SMALL)
times = {
    "kept": many(read, connect(), address, SMALL),
    "fresh": many(on_its_own, SMALL),
    "stream": timed(on_its_own, size) if size else 0,
}
json.dump(times, sys.stdout)
