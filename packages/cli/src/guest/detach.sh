# Starts a program that goes on when the command that started it has ended; what it prints, and its exit code, go into
# files of the sandbox. Usage: sh -c "$(cat detach.sh)" detach ID COMMAND...
folder=/tmp/.sandkit-programs/$1
shift
command -v "$1" >/dev/null 2>&1 || { printf '%s: not found\n' "$1" >&2; exit 127; }
mkdir -p "$folder" && printf '%s\0' "$@" >"$folder/command" && : >"$folder/output" || exit 125
{
  "$@" </dev/null >"$folder/output" 2>&1
  echo "$?" >"$folder/ending" && mv "$folder/ending" "$folder/exit"
} </dev/null >/dev/null 2>&1 &
echo "$!" >"$folder/pid"
