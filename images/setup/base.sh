#!/bin/sh
# What every image has beside its packages: a user for programs that need a name, and his home.
set -eu
echo 'user:x:1000:1000::/home/user:/bin/sh' >>/etc/passwd
echo 'user:x:1000:' >>/etc/group
mkdir -p /home/user /workspace /app /tools
chown 1000:1000 /home/user /workspace /app /tools
