# Attacks on a sandbox from inside, in POSIX sh, for boxes without Python: those of the other programs of this folder that
# a shell can try. Usage: sh -c "$(cat attack.sh)" attack NAME [AMOUNT]. What each prints: see attack.py.

say() { printf '%s\t%s\t%s\n' "$1" "$2" "$(printf %s "$3" | tr '\n\t' '  ' | cut -c1-600)"; }

# ID MARK WHOSE: looks for the mark in the command lines of others, and kills what has it.
look_for() {
  found= count=0
  for entry in /proc/[0-9]*; do
    count=$((count + 1))
    pid=${entry#/proc/}
    [ "$pid" = "$$" ] || [ "$pid" = "$PPID" ] && continue
    tr '\0' ' ' 2>/dev/null <"$entry/cmdline" | grep -F -q -e "$2" && found=$pid
  done
  if [ -z "$found" ]; then say "$1" held "$count processes to be seen, none of them of $3"
  elif kill -9 "$found" 2>/dev/null; then say "$1" got "saw and killed process $found of $3"
  else say "$1" got "saw process $found of $3"; fi
}

# ID TEXT...: got, where there is anything to tell.
verdict() { if [ -n "$3" ]; then say "$1" got "$3"; else say "$1" held "$2"; fi; }

field() { sed -n "s/^$1:[[:space:]]*//p" /proc/self/status; }

processes() {
  look_for processes.host "$SANDKIT_MARK" 'this machine'
  look_for processes.siblings "$SANDKIT_SIBLING_MARK" 'another sandbox'
  if [ -n "${SANDKIT_BAIT-}" ]; then say processes.environment got 'has a variable of the program that made the sandbox'
  else say processes.environment held 'no variable of the program that made the sandbox'; fi

  got=
  for part in environ maps mem; do
    # Only opened: where that is refused, nothing else was done.
    (: <"/proc/1/$part") 2>/dev/null && got="$got /proc/1/$part"
  done
  ls /proc/1/fd >/dev/null 2>&1 && got="$got /proc/1/fd"
  verdict processes.agent '/proc/1: environ, maps, mem, fd are refused' "${got:+opened$got}"

  user=$(id -u)
  if [ "$user" = 0 ] && [ "$(tr -s ' ' </proc/self/uid_map)" = ' 0 0 4294967295' ]; then
    say processes.root got "runs as root, which is root of the kernel too"
  else say processes.root held "runs as user $user"; fi

  got= bound=
  for set in CapInh CapPrm CapEff CapAmb CapBnd; do
    bits=$(field "$set")
    case $bits in *[!0]*) [ "$set" = CapBnd ] && bound=" CapBnd $bits" || got="$got $set $bits" ;; esac
  done
  # Nothing can be taken from the bounding set where no program gains any.
  [ "$(field NoNewPrivs)" = 1 ] || got=$got$bound
  verdict processes.capabilities "none${bound:+ but$bound, which no_new_privs keeps out of reach}" "${got# }"

  if [ "$(field NoNewPrivs)" = 1 ]; then say processes.new-privileges held 'no_new_privs is set'
  else say processes.new-privileges got 'no_new_privs is not set: a program with the setuid bit would become its owner'; fi

  if [ "$(field Seccomp)" = 0 ]; then say processes.kernel got 'seccomp 0: no system call is filtered'
  elif command -v unshare >/dev/null && unshare -U true 2>/dev/null; then
    say processes.kernel got 'made a user namespace'
  else say processes.kernel held "seccomp $(field Seccomp); no user namespace can be made"; fi
}

# ID FILE CONTENT: by its path, and by the roots of other processes.
find_file() {
  for root in '' /host /hostfs /rootfs /mnt /media /proc/[0-9]*/root; do
    if grep -F -q -e "$3" "$root$2" 2>/dev/null; then
      say "$1" got "$root$2: read it"
      return
    fi
  done
  say "$1" held "$2: not there"
}

files() {
  find_file files.host "$SANDKIT_BAIT_FILE" "$SANDKIT_BAIT_SECRET"
  find_file files.siblings "$SANDKIT_SIBLING_FILE" "$SANDKIT_SIBLING_MARK"
  got=
  for path in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock; do
    [ -S "$path" ] && [ -w "$path" ] && got="$got $path"
  done
  verdict files.engine 'none of the usual sockets is there' "$got"

  got=
  for path in /dev/mem /dev/kmem /dev/kvm /dev/vhost-vsock /dev/fuse /dev/net/tun /dev/kmsg; do
    [ -e "$path" ] && (: <"$path") 2>/dev/null && got="$got $path"
  done
  for path in /dev/*; do [ -b "$path" ] && (: <"$path") 2>/dev/null && got="$got $path"; done
  mknod ./disk b 8 0 2>/dev/null && rm -f ./disk && got="$got mknod"
  verdict files.devices 'no disk, no memory, no mknod' "$got"

  got=
  for path in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger /sys/kernel/uevent_helper \
    /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/memory/cgroup.procs /sys/fs/cgroup/rdma/release_agent; do
    # Opened to append, and nothing is appended.
    [ -e "$path" ] && (: >>"$path") 2>/dev/null && got="$got $path"
  done
  verdict files.kernel 'none of the settings of the kernel can be opened to write' "$got"

  got=
  while read -r _ where kind _; do
    case $kind in ext* | xfs | btrfs | zfs | nfs* | 9p | virtiofs)
      case $where in / | /etc/hosts | /etc/hostname | /etc/resolv.conf | */docker-init) ;; *) got="$got $where ($kind)" ;; esac ;;
    esac
  done </proc/self/mounts
  mkdir -p ./mounted && mount -t tmpfs none ./mounted 2>/dev/null && umount ./mounted && got="$got mounted a tmpfs"
  rmdir ./mounted
  verdict files.mounts 'no disk of the machine, and nothing can be mounted' "$got"
}

# HOST PORT: whether a connection can be made; 2 where nothing here can try.
reaches() {
  if command -v bash >/dev/null; then timeout 2 bash -c ': </dev/tcp/"$0"/"$1"' "$1" "$2" 2>/dev/null
  elif command -v nc >/dev/null; then nc -w 1 "$1" "$2" </dev/null >/dev/null 2>&1
  elif command -v wget >/dev/null; then wget -q -T 1 -O /dev/null "http://$1:$2/" 2>/dev/null
  else return 2; fi
}

# ID HOST:PORT...
reach_any() {
  id=$1
  shift
  got=
  for place; do
    code=0
    reaches "${place%:*}" "${place##*:}" || code=$?
    if [ "$code" = 2 ] && ! command -v bash >/dev/null && ! command -v nc >/dev/null && ! command -v wget >/dev/null; then
      say "$id" untried 'the box has neither bash, nc nor wget to try with'
      return
    fi
    [ "$code" = 0 ] && got="$got $place"
  done
  verdict "$id" "$* are refused" "${got:+connected to$got}"
}

network() {
  set --
  for address in $SANDKIT_BAIT_ADDRESSES; do set -- "$@" "$address:$SANDKIT_BAIT_PORT"; done
  reach_any network.host "$@"
  reach_any network.metadata 169.254.169.254:80 100.100.100.200:80
  reach_any network.outside 1.1.1.1:443
  names=
  for entry in /sys/class/net/*; do
    name=${entry##*/}
    # Tunnels that the kernel puts everywhere are down.
    [ "$name" = lo ] || [ "$(cat "$entry/operstate")" = down ] || names="$names $name"
  done
  verdict network.interfaces 'interfaces: lo' "$names"
  if command -v getent >/dev/null; then
    verdict network.names 'example.com: no answer' "$(getent hosts example.com | head -n 1)"
  else say network.names untried 'the box has no getent to try with'; fi
}

limits() {
  case $1 in
  endless) while :; do :; done ;;
  output) head -c "$(($2 * 1048576))" /dev/zero ;;
  processes)
    pids=
    n=0
    # A shell that cannot start one more process ends itself.
    trap 'kill $pids 2>/dev/null' EXIT
    while [ "$n" -lt "$2" ]; do
      sleep 20 &
      pids="$pids $!"
      n=$((n + 1))
    done
    say limits.processes got "$n processes at one time"
    ;;
  memory) # one line of that length, which has to be held as a whole
    held=$(head -c "$(($2 * 1048576))" /dev/zero | tail -n 1 | wc -c)
    if [ "$held" -ge "$(($2 * 1048576))" ]; then say limits.memory got "allocated $2 MiB"
    else say limits.memory held "ended on the way to $2 MiB"; fi
    ;;
  disk)
    total=0
    for place in . /tmp /var/tmp /dev/shm /app /tools /run /home /root /; do
      left=$(($2 - total))
      [ "$left" -gt 0 ] && [ -w "$place" ] || continue
      dd if=/dev/urandom of="$place/sandkit-disk" bs=1048576 count="$left" 2>/dev/null
      total=$((total + $(wc -c <"$place/sandkit-disk" 2>/dev/null || echo 0) / 1048576))
    done
    rm -f ./sandkit-disk /tmp/sandkit-disk /var/tmp/sandkit-disk /dev/shm/sandkit-disk /app/sandkit-disk \
      /tools/sandkit-disk /run/sandkit-disk /home/sandkit-disk /root/sandkit-disk /sandkit-disk 2>/dev/null
    if [ "$total" -ge "$2" ]; then say limits.disk got "wrote $total MiB"; else say limits.disk held "wrote $total MiB, then: no space"; fi
    ;;
  file)
    if dd if=/dev/zero of=./big bs=1 count=0 seek="$2M" 2>/dev/null && dd if=/dev/zero of=./big bs=1048576 count="$2" 2>/dev/null; then
      say limits.file got "a file of $2 MiB"
    else say limits.file held 'refused'; fi
    rm -f ./big
    ;;
  *) say "limits.$1" untried 'a shell cannot measure it' ;;
  esac
}

name=$1
shift
"$name" "$@"
say '' 'done' ''
