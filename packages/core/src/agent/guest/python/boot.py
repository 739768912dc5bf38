"""Starts the agent from its parts, which are arguments: compiled one by one they take less time and far less memory.

    boot.py NAME,NAME,... SOURCE SOURCE ... ARGUMENT ...
"""

import gc
import sys

# What is made now stays: to look for cycles in it is wasted.
gc.disable()
for name in sys.argv.pop(1).split(","):
    exec(compile(sys.argv.pop(1), name + ".py", "exec"))
gc.freeze()
gc.enable()
# Defined by the last part.
main(sys.argv[1:])
