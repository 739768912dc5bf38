# Becomes a program, in its directory. Arguments: the directory, then the program's. Says its pid in a line of its own
# first, or what is wrong: "cwd" or "program", and the name of an errno.
if ! cd "$1" 2>/dev/null; then
  if [ -d "$1" ]; then echo "cwd EACCES"; elif [ -e "$1" ]; then echo "cwd ENOTDIR"; else echo "cwd ENOENT"; fi
  exit 125
fi
shift
if ! command -v "$1" >/dev/null; then
  echo "program ENOENT"
  exit 127
fi
echo "pid $$"
exec "$@"
