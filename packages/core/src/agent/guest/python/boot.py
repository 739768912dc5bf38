"""Starts the agent from its parts: compiled one by one they take less time and far less memory.

    boot.py source DATA ARGUMENT ...     DATA: name and source of each part, with a zero byte between each two
    boot.py compiled DATA ARGUMENT ...   DATA: what a boot from the sources has given to `main`

DATA is deflated. On a command line it comes in base64; `-SIZE` says that it is the first of what comes over stdin, as
it is: an engine copies its command lines often. `-` says that it is all of that.
"""

import gc
import marshal
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER
from binascii import a2b_base64, b2a_base64
from zlib import compress, decompress


def read_all(size):
    """So many bytes of stdin; -1: all."""
    data = b""
    while len(data) != size:
        piece = os.read(0, size - len(data) if size > 0 else 1024 * 1024)
        if not piece:
            if size < 0:
                break
            sys.exit("sandkit agent: its host left before it had begun")
        data += piece
    return data


# What is made now stays: to look for cycles in it is wasted.
gc.disable()
form, data = sys.argv.pop(1), sys.argv.pop(1)
data = decompress(read_all(int(data[1:] or -1)) if data.startswith("-") else a2b_base64(data))
parts = []
if form == "compiled":
    if not data.startswith(MAGIC_NUMBER):
        sys.exit("sandkit agent: it was compiled by another Python")
    for part in marshal.loads(data[len(MAGIC_NUMBER) :]):
        exec(part)
else:
    texts = data.split(b"\0")
    for name, source in zip(texts[::2], texts[1::2]):
        part = compile(source, name.decode() + ".py", "exec", optimize=2)
        exec(part)
        parts.append(part)
    del texts, name, source


def compiled():
    """The parts in the form that the interpreter itself reads, for boxes that have the same one."""
    return b2a_base64(compress(MAGIC_NUMBER + marshal.dumps(parts)), newline=False).decode()


del form, data, part
gc.freeze()
gc.enable()
# Defined by the last part.
main(sys.argv[1:], compiled if parts else None)
