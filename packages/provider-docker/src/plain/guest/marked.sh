# The processes of one program are told apart by their hard limit of file locks, which Linux shows and does not use:
# every descendant inherits it, with a session or an environment of its own too, and none can raise it again.

# Prints the pids of the living processes with the mark $1, one a line. The dead that nobody has waited for have none.
sandkit_marked() {
  if command -v grep >/dev/null; then
    for sandkit_file in $(grep -ls "^Max file locks  *$1 " /proc/[0-9]*/limits); do
      sandkit_file=${sandkit_file#/proc/}
      echo "${sandkit_file%/limits}"
    done
    return
  fi
  for sandkit_file in /proc/[0-9]*/limits; do
    while read -r _ sandkit_kind sandkit_name _ sandkit_hard _; do
      [ "$sandkit_kind $sandkit_name $sandkit_hard" = "file locks $1" ] && sandkit_file=${sandkit_file#/proc/} && echo "${sandkit_file%/limits}"
    done <"$sandkit_file"
  done 2>/dev/null
}
