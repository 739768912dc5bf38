# One operation on files: its name and its arguments, all as data. Says on stderr "ok", or "fail" with what is wrong.
LC_ALL=C
export LC_ALL
umask 022

fail() {
  echo "fail $1" >&2
  exit 1
}

ok() {
  echo ok >&2
}

# Why nothing is at a path: a part of it is a file, may not be searched, or is not there.
fail_missing() {
  path=$1
  while [ -n "$path" ] && [ "$path" != / ]; do
    path=${path%/*}
    [ -e "${path:-/}" ] || continue
    [ -d "${path:-/}" ] || fail ENOTDIR
    [ -x "${path:-/}" ] || fail EACCES
    break
  done
  [ -L "$1" ] && readlink -f "$1" >/dev/null || [ ! -L "$1" ] || fail ELOOP
  fail ENOENT
}

# What a tool said of a full disk and the like.
fail_said() {
  case $1 in
  *"No space left"* | *"quota exceeded"*) fail ENOSPC ;;
  *"File too large"*) fail EFBIG ;;
  *"not empty"*) fail ENOTEMPTY ;;
  *"Read-only"* | *"ermission denied"* | *"not permitted"*) fail EACCES ;;
  *"to a subdirectory of itself"* | *"nvalid argument"*) fail EINVAL ;;
  *"name too long"*) fail ENAMETOOLONG ;;
  *"Not a directory"*) fail ENOTDIR ;;
  *) fail EIO ;;
  esac
}

make_parents() {
  parent=${1%/*}
  parent=${parent:-/}
  [ -d "$parent" ] && return
  said=$(mkdir -p "$parent" 2>&1) && return
  [ -e "$parent" ] && [ ! -d "$parent" ] && fail ENOTDIR
  case $said in *"exists"*) fail ENOTDIR ;; esac
  fail_said "$said"
}

# Puts the path that a chain of links leads to into "target". An x keeps a line break at the end of a name.
follow() {
  target=$1
  links=0
  while [ -L "$target" ]; do
    links=$((links + 1))
    [ "$links" -le 40 ] || fail ELOOP
    link=$(readlink -n "$target" && echo x)
    link=${link%x}
    case $link in
    /*) target=$link ;;
    *) target=${target%/*}/$link ;;
    esac
  done
}

require_regular() {
  [ ! -d "$1" ] || fail EISDIR
  [ -f "$1" ] || fail EINVAL
}

# Seconds and milliseconds of the last change.
modified_at() {
  changed=$(stat -c '%Y %y' -- "$1")
  seconds=${changed%% *}
  fraction=${changed#*.}
  fraction=${fraction%% *}000
  echo "$seconds.$(printf '%.3s' "$fraction")"
}

# Says "ok" on stdout, before the content, and "whole" on stderr once that is out: what comes on one may come after what
# comes on the other, and wait for whoever reads it.
read_file() { # path offset length
  [ -e "$1" ] || fail_missing "$1"
  require_regular "$1"
  [ -r "$1" ] || fail EACCES
  echo ok
  if [ "$3" = 0 ]; then
    :
  elif [ "$2" = 0 ] && [ -z "$3" ]; then
    cat <"$1"
  elif [ -z "$3" ]; then
    tail -c "+$(($2 + 1))" <"$1"
  else
    # A pipeline tells of its last program alone. The first may fail because that has enough and leaves, by SIGPIPE or,
    # where that is ignored, by an error; it has failed by itself where another byte is still taken.
    { tail -c "+$(($2 + 1))" <"$1" || { head -c 1 /dev/zero && kill -s TERM $$; }; } 2>/dev/null | head -c "$3"
  fi && echo whole >&2
}

# What must hold of the file that is there, or not there, for a write to go on.
check_old() { # path mode modifiedAt
  if [ -e "$1" ] || [ -L "$1" ]; then
    [ "$2" != exclusive ] || fail EEXIST
    require_regular "$1"
    [ -w "$1" ] || fail EACCES
    [ -z "$3" ] || [ "$(modified_at "$1")" = "$3" ] || fail ESTALE
  else
    [ -z "$3" ] || fail ESTALE
  fi
}

# Takes all of stdin. Only when that is as long as it was to be, the file is put in its place.
write_file() { # path mode modifiedAt permissions temporary-name length-or-empty
  target=$1
  [ "$2" = exclusive ] || follow "$1"
  check_old "$target" "$2" "$3"
  make_parents "$target"
  if [ "$2" = append ]; then
    fresh=
    [ -e "$target" ] || fresh=yes
    said=$(cat 2>&1 >>"$target") || fail_said "$said"
    if [ -n "$4" ]; then chmod "$4" "$target"; elif [ -n "$fresh" ]; then chmod 644 "$target"; fi
    ok
    exit 0
  fi
  temporary=${target%/*}/$5
  said=$({ cat >"$temporary"; } 2>&1) || { rm -f "$temporary"; fail_said "$said"; }
  if [ -z "$6" ]; then
    ok
    exit 0
  fi
  commit "$target" "$2" "$3" "$4" "$temporary" "$6"
}

# Puts what was written beside a file in its place.
commit() { # target mode modifiedAt permissions temporary length
  if [ "$(stat -c %s "$5")" != "$6" ]; then
    rm -f "$5"
    fail SHORT
  fi
  bits=$4
  [ -n "$bits" ] || [ ! -e "$1" ] || bits=$(stat -c %a "$1")
  chmod "${bits:-644}" "$5"
  (check_old "$1" "$2" "$3") || { rm -f "$5"; exit 1; }
  if [ "$2" = exclusive ]; then
    ln -T "$5" "$1" 2>/dev/null || { rm -f "$5"; fail EEXIST; }
    rm -f "$5"
  else
    said=$(mv -fT "$5" "$1" 2>&1) || { rm -f "$5"; fail_said "$said"; }
  fi
  ok
}

# Makes an empty file beside its place, for others to fill, and says where.
stage_file() { # path mode modifiedAt permissions temporary-name
  target=$1
  [ "$2" = exclusive ] || follow "$1"
  check_old "$target" "$2" "$3"
  make_parents "$target"
  temporary=${target%/*}/$5
  said=$({ (umask 077 && : >"$temporary"); } 2>&1) || fail_said "$said"
  ok
  printf '%s' "$temporary"
}

commit_file() { # path mode modifiedAt permissions temporary-name length
  target=$1
  [ "$2" = exclusive ] || follow "$1"
  commit "$target" "$2" "$3" "$4" "${target%/*}/$5" "$6"
}

discard_file() { # path mode temporary-name
  target=$1
  [ "$2" = exclusive ] || follow "$1"
  rm -f "${target%/*}/$3"
  ok
}

# Records end with the separator, which no name has; paths and link targets end with NUL.
list_directory() { # path depth separator
  [ -e "$1" ] || fail_missing "$1"
  [ -d "$1" ] || fail ENOTDIR
  [ -r "$1" ] && [ -x "$1" ] || fail EACCES
  ok
  below=${1%/}/
  find "$below" -mindepth 1 -maxdepth "$2" -exec stat -c "%f %s %Y %y/$3%n/$3" {} + 2>/dev/null
  printf '%s' "$3"
  find "$below" -mindepth 1 -maxdepth "$2" -type l -exec sh -c \
    'for path do printf "%s\0" "$path"; readlink -n "$path"; printf "\0"; done' sh {} + 2>/dev/null
  exit 0
}

stat_path() { # path follow-or-empty
  if [ -n "$2" ]; then
    [ -e "$1" ] || fail_missing "$1"
    record=$(stat -L -c '%f %s %Y %y' "$1") || fail EIO
  else
    [ -e "$1" ] || [ -L "$1" ] || fail_missing "$1"
    record=$(stat -c '%f %s %Y %y' "$1") || fail EIO
  fi
  ok
  printf '%s\n' "$record"
  if [ -z "$2" ] && [ -L "$1" ]; then readlink -n "$1"; fi
  exit 0
}

make_directory() { # path
  if [ -d "$1" ]; then ok; exit 0; fi
  [ ! -e "$1" ] && [ ! -L "$1" ] || fail EEXIST
  make_parents "$1"
  said=$(mkdir -p "$1" 2>&1) || fail_said "$said"
  ok
}

move_path() { # from to
  [ -e "$1" ] || [ -L "$1" ] || fail_missing "$1"
  make_parents "$2"
  if [ -d "$1" ] && [ ! -L "$1" ]; then
    if [ -e "$2" ] || [ -L "$2" ]; then [ -d "$2" ] && [ ! -L "$2" ] || fail ENOTDIR; fi
  elif [ -d "$2" ] && [ ! -L "$2" ]; then
    fail EISDIR
  fi
  said=$(mv -fT "$1" "$2" 2>&1) || fail_said "$said"
  ok
}

remove_path() { # path recursive-or-empty
  if [ ! -e "$1" ] && [ ! -L "$1" ]; then
    (fail_missing "$1") 2>&1 | { read -r _ why; [ "$why" = ENOENT ] || fail "$why"; ok; echo false; }
    exit 0
  fi
  if [ -d "$1" ] && [ ! -L "$1" ]; then
    [ -n "$2" ] || fail EISDIR
    said=$(rm -rf "$1" 2>&1) || fail_said "$said"
  else
    said=$(rm -f "$1" 2>&1) || fail_said "$said"
  fi
  ok
  echo true
}

make_link() { # target path
  [ ! -e "$2" ] && [ ! -L "$2" ] || fail EEXIST
  make_parents "$2"
  said=$(ln -sT -- "$1" "$2" 2>&1) || fail_said "$said"
  ok
}

"$@"
