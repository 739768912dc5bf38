#!/bin/sh
# Makes /box: busybox, its links, and the files that programs take for granted.
set -eu
mkdir -p /box/bin /box/sbin /box/usr/bin /box/usr/sbin /box/etc /box/proc /box/sys /box/dev /box/root /box/home/user
cp /usr/bin/busybox /box/bin/busybox 2>/dev/null || cp /bin/busybox /box/bin/busybox
chroot /box /bin/busybox --install -s
mkdir -p /box/tmp /box/workspace /box/app /box/tools
chmod 1777 /box/tmp
printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n' >/box/etc/passwd
printf 'root:x:0:\nuser:x:1000:\n' >/box/etc/group
chown 1000:1000 /box/home/user /box/workspace /box/app /box/tools
