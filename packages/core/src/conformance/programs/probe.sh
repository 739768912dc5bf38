# The programs that the conformance suite runs inside a sandbox, in POSIX sh.
# Usage: sh -c "$(cat probe.sh)" probe NAME [ARGUMENT...]. The same programs in Python: probe.py.

pause() { sleep "$1" 2>/dev/null || sleep 1; }

# A life sign every 50 ms, appended to a file. A string, so that it can start as a shell of its own.
beat='while :; do printf . >>"$1"; sleep 0.05 2>/dev/null || sleep 1; done'

# Sets $block to at least $1 characters.
make_block() {
  block=xxxxxxxxxxxxxxxx
  while [ "${#block}" -lt "$1" ]; do block=$block$block; done
}

program=$1
shift
case $program in
traits)
  : & [ "$!" != 0 ] && wait "$!" 2>/dev/null && echo fork
  kill -0 "$$" 2>/dev/null && echo signals
  command -v setsid >/dev/null 2>&1 && echo setsid
  [ -r /proc/self/cmdline ] && echo procfs
  echo sh
  ;;

# Input and output
copy) exec cat ;;
lines) # answers each line of input
  while IFS= read -r line; do printf 'got %s\n' "$line"; done
  printf 'end\n'
  ;;
bytes) for piece; do printf "$piece"; done ;; # each argument in octal escapes
slowly) # SECONDS PIECE...: one piece at a time
  delay=$1
  shift
  for piece; do printf "$piece"; pause "$delay"; done
  ;;
both) # COUNT: numbers to stdout and stderr by turns
  n=0
  while [ "$n" -lt "$1" ]; do printf 'o%s ' "$n"; printf 'e%s ' "$n" >&2; n=$((n + 1)); done
  ;;
flood) # COUNT [FILE]: blocks of 64 KiB between HEAD and TAIL, each noted by one byte in FILE
  make_block 65536
  n=0
  printf HEAD
  while [ "$n" -lt "$1" ]; do
    printf %s "$block"
    n=$((n + 1))
    [ -z "${2-}" ] || printf . >>"$2"
  done
  printf TAIL
  ;;
say) printf %s "$2"; exec sleep "$1" ;; # SECONDS TEXT

# What the program was given
argv) for argument; do printf '%s\0' "$argument"; done ;;
env) # NAME...: =value of each that is set
  for name; do
    eval "[ -z \"\${$name+set}\" ] || printf '=%s' \"\$$name\""
    printf '\0'
  done
  ;;
cwd) printf %s "$(pwd -P)" ;;
pid) printf %s "$$" ;;
user) id -u ;;
terminal) if [ -t 0 ] && [ -t 1 ]; then printf yes; else printf no; fi ;;
command-lines) cat /proc/[0-9]*/cmdline 2>/dev/null; : ;;

# How it ends
exit) exit "$1" ;;
sleep) exec sleep "$1" ;;
signal) kill -"$1" "$$"; sleep 5 ;; # NAME: to itself
allocate) make_block $((1048576 * $1)); printf %s "${#block}" ;; # MIB

# Files
read) for file; do cat <"$file"; done ;; # FILE...
write) # FILE TEXT, any number of times
  while [ "$#" -gt 0 ]; do
    printf %s "$2" >"$1"
    shift 2
  done
  ;;
size) wc -c <"$1" ;;
await) # FILE: until it is there
  printf ready
  while [ ! -e "$1" ]; do pause 0.05; done
  printf done
  ;;

# Trees of processes; each beats in FILE
heartbeat) printf ready; exec sh -c "$beat" beat "$1" ;;
child) sh -c "$beat" beat "$1" & printf ready; exec sleep 60 ;;
own-session) setsid sh -c "$beat" beat "$1" </dev/null >/dev/null 2>&1 & printf ready; exec sleep 60 ;;
double-fork)
  (env -i PATH="$PATH" sh -c "$beat" beat "$1" </dev/null >/dev/null 2>&1 &)
  printf ready
  exec sleep 60
  ;;
daemon)
  (setsid env -i PATH="$PATH" sh -c "$beat" beat "$1" </dev/null >/dev/null 2>&1 &)
  printf ready
  exec sleep 60
  ;;
deaf-child) sh -c "trap '' TERM INT HUP; $beat" beat "$1" & printf ready; exec sleep 60 ;; # only the child ignores it
ignore-term) trap '' TERM INT HUP; printf ready; exec sh -c "$beat" beat "$1" ;;
stopped) printf ready; kill -STOP "$$"; exec sleep 60 ;;
clean-up) # FILE: writes it on SIGTERM
  file=$1 # a trap may run where "$1" is another
  trap 'printf cleaned >"$file"; exit 7' TERM
  printf ready
  while :; do pause 0.05; done
  ;;
holder) sh -c "$beat" beat "$1" & printf leader; exit 3 ;; # a child goes on and holds the output open
crowd) # COUNT: that many children at once
  n=0
  while [ "$n" -lt "$1" ]; do
    sleep 60 &
    n=$((n + 1))
  done
  ;;
*) echo "probe.sh has no program \"$program\"" >&2; exit 64 ;;
esac
