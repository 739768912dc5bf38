# Sends a signal to every process with a mark. Arguments: mark, name of the signal without SIG, or LOOK for none, the
# highest mark that was given out, the marks of other programs. Prints "gone" or "left".
# TERM and KILL are for those too that have lowered their mark so as not to be found: no program has it any more.
sandkit_targets() {
  sandkit_marks | while read -r sandkit_pid sandkit_hard; do
    case " $2 " in *" $sandkit_hard "*) continue ;; esac
    [ "$sandkit_hard" -gt "$1" ] || echo "$sandkit_pid"
  done
}

case $2 in
KILL)
  # Stopped first, so that none can fork while the others die; repeated for those that forked meanwhile.
  sandkit_rounds=0
  while [ "$sandkit_rounds" -lt 100 ]; do
    sandkit_rounds=$((sandkit_rounds + 1))
    sandkit_pids=$(sandkit_targets "$3" "$4")
    [ -n "$sandkit_pids" ] || break
    kill -s STOP $sandkit_pids 2>/dev/null
    sandkit_late=$(sandkit_targets "$3" "$4")
    kill -s KILL $sandkit_pids $sandkit_late 2>/dev/null
  done
  sandkit_left=$(sandkit_targets "$3" "$4")
  ;;
TERM)
  sandkit_left=$(sandkit_targets "$3" "$4")
  [ -z "$sandkit_left" ] || kill -s TERM $sandkit_left 2>/dev/null
  sandkit_left=$(sandkit_targets "$3" "$4")
  ;;
LOOK) sandkit_left=$(sandkit_marked "$1") ;;
*)
  sandkit_left=$(sandkit_marked "$1")
  [ -z "$sandkit_left" ] || kill -s "$2" $sandkit_left 2>/dev/null
  sandkit_left=$(sandkit_marked "$1")
  ;;
esac
if [ -z "$sandkit_left" ]; then echo gone; else echo left; fi
