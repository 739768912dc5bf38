"""Starts the agent from its parts: compiled one by one they take less time and far less memory.

    boot.py NAME,NAME,... SOURCES ARGUMENT ...

SOURCES are the parts with a zero byte between each two, deflated, in base64: an engine copies its command lines often.
"""

import gc
import sys
from binascii import a2b_base64
from zlib import decompress

# What is made now stays: to look for cycles in it is wasted.
gc.disable()
names, sources = sys.argv.pop(1), sys.argv.pop(1)
for name, source in zip(names.split(","), decompress(a2b_base64(sources)).split(b"\0")):
    exec(compile(source, name + ".py", "exec"))
del names, sources, name, source
gc.freeze()
gc.enable()
# Defined by the last part.
main(sys.argv[1:])
