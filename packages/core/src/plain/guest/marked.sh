# The processes of one program are told apart by their hard limit of file locks, which Linux shows and does not use:
# every descendant inherits it, with a session or an environment of its own too, and none can raise it again.

# Prints pid and mark of the living processes that have one, a pair a line. The dead that nobody has waited for have none.
sandkit_marks() {
  if command -v grep >/dev/null; then
    grep -s '^Max file locks' /dev/null /proc/[0-9]*/limits
  else
    for sandkit_file in /proc/[0-9]*/limits; do
      while read -r sandkit_line; do
        case $sandkit_line in 'Max file locks'*) echo "$sandkit_file:$sandkit_line" ;; esac
      done <"$sandkit_file"
    done 2>/dev/null
  fi | while read -r sandkit_file _ _ _ sandkit_hard _; do
    [ "$sandkit_hard" != unlimited ] || continue
    sandkit_file=${sandkit_file#/proc/}
    echo "${sandkit_file%%/*} $sandkit_hard"
  done
}

# Prints the pids of those with the mark $1.
sandkit_marked() {
  sandkit_marks | while read -r sandkit_pid sandkit_hard; do
    [ "$sandkit_hard" != "$1" ] || echo "$sandkit_pid"
  done
}
