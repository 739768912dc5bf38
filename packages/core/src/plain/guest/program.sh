# Becomes the program, in its directory and with its mark. Arguments: token, mark, directory, PATH, then the program's.
# Only positional parameters: an assigned variable could be one that the program is to find as it was given.
if ! { ulimit -x "$2" || ulimit -w "$2"; } 2>/dev/null; then
  echo "$1 unmarked" >&5
  exit 125
fi
if ! cd "$3" 2>/dev/null; then
  if [ -d "$3" ]; then
    echo "$1 refused EACCES" >&5
  elif [ -e "$3" ]; then
    echo "$1 refused ENOTDIR" >&5
  else
    echo "$1 refused ENOENT" >&5
  fi
  exit 125
fi
unset OLDPWD
echo "$1 started $$" >&5
# From here on, what the sandbox's own programs have put there may run.
PATH=$4
export PATH
shift 4
case $1 in
-*) exec env -- "$@" >&3 2>&4 3>&- 4>&- 5>&- ;;
*) exec "$@" >&3 2>&4 3>&- 4>&- 5>&- ;;
esac
