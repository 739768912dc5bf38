# What the line that is typed into the shell of a terminal carries: takes the terminal over and runs what comes on it.
#
#     loader.py SIZE NONCE
#
# Kept small, as the line must be; start-link.ts describes what is said.
import os
import sys
import termios
import zlib

size, nonce = int(sys.argv[1]), sys.argv[2]
state = termios.tcgetattr(0)
state[0] = state[1] = state[3] = 0
state[2] = state[2] & ~(termios.CSIZE | termios.PARENB) | termios.CS8
state[6][termios.VMIN], state[6][termios.VTIME] = 1, 0
termios.tcsetattr(0, termios.TCSANOW, state)
os.write(1, b"\nSANDKIT:%s python %d.%d\n" % (nonce.encode(), *sys.version_info[:2]))
head = b"\0" + nonce.encode()
data = b""
# What was typed ahead comes first, and is skipped.
while head not in data or len(data) < data.index(head) + len(head) + size:
    piece = os.read(0, 65536)
    if not piece:
        sys.exit()
    data += piece
data = data[data.index(head) + len(head) :]
config, program = data[:size].split(b"\0", 1)
parts = zlib.decompress(program).split(b"\0")
# What follows the program is the first of what it is told.
data = data[size:]
exec(parts[0])
