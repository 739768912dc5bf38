# Runs one program and tells on stderr, in lines that begin with the token, when it has started and how it has ended.
# Arguments: token, mark, "merge" or "", program.sh, directory, PATH, then the program and its arguments.

# How many processes the kernel has ended for want of memory.
sandkit_oom_kills() {
  for sandkit_file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$sandkit_file" ] || continue
    while read -r sandkit_key sandkit_value; do
      [ "$sandkit_key" = oom_kill ] && echo "$sandkit_value"
    done <"$sandkit_file"
  done
}

exec 3>&1 4>&2 5>&2
[ "$3" = merge ] && exec 4>&1
sandkit_token=$1
sandkit_mark=$2
sandkit_program=$4
sandkit_directory=$5
shift 5
sandkit_before=$(sandkit_oom_kills)
# A shell says on its stderr that a child was ended by a signal; the exit code alone does not tell it from an exit.
sandkit_report=$(sh -c 'sh -c "$@"; echo " $?"' sh \
  "$sandkit_program" sh "$sandkit_token" "$sandkit_mark" "$sandkit_directory" "$@" 2>&1)
sandkit_code=${sandkit_report##* }
sandkit_how=exited
[ "$sandkit_report" = " $sandkit_code" ] || sandkit_how=signaled
# The shell that was to tell it has been killed: what became of the program, nobody knows.
case $sandkit_code in '' | *[!0-9]*) sandkit_how=signaled sandkit_code=137 ;; esac
if [ "$sandkit_code" = 137 ] && [ "$(sandkit_oom_kills)" != "$sandkit_before" ]; then sandkit_how=oom; fi
sandkit_left=alone
[ -z "$(sandkit_marked "$sandkit_mark")" ] || sandkit_left=survived
printf '\0%s %s %s %s\n' "$sandkit_token" "$sandkit_how" "$sandkit_code" "$sandkit_left" >&5
