"""What ordinary programs do with the kernel; prints `fine` when all of it works."""

import asyncio
import ctypes
import mmap
import multiprocessing
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time


def square(number):
    return number * number


def main():
    thread = threading.Thread(target=time.sleep, args=(0.001,))
    thread.start()
    thread.join()
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
    assert subprocess.run(["sh", "-c", "echo hi | cat"], capture_output=True, check=True).stdout == b"hi\n"

    poller = select.epoll()
    ours, theirs = socket.socketpair()
    poller.register(ours, select.EPOLLIN)
    theirs.send(b"x")
    assert poller.poll(1)

    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(0)
    with tempfile.TemporaryDirectory() as folder:
        assert libc.inotify_add_watch(watch, folder.encode(), 0x100) > 0
        with open(folder + "/new", "w") as file:
            file.write("x")
        assert struct.unpack("iIII", os.read(watch, 1024)[:16])[1] == 0x100
        os.mkfifo(folder + "/pipe")
        os.link(folder + "/new", folder + "/link")

    memory = os.memfd_create("test")
    os.write(memory, b"abc")
    assert mmap.mmap(memory, 3)[:] == b"abc"
    descriptor = os.pidfd_open(os.getpid())
    signal.pidfd_send_signal(descriptor, 0)
    os.sched_getaffinity(0)
    os.getrandom(8)

    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    server.accept()[0].send(b"tcp")
    assert client.recv(3) == b"tcp"
    socket.getaddrinfo("localhost", 80)

    async def sleep():
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(1)", stdout=subprocess.PIPE)
        assert (await process.communicate())[0] == b"1\n"

    asyncio.run(sleep())
    print("fine")


if __name__ == "__main__":
    main()
