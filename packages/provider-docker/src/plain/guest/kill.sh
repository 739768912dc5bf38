# Sends a signal to every process with a mark. Arguments: mark, name of the signal without SIG, or LOOK for none.
# Prints "gone" or "left".
case $2 in
LOOK) ;;
KILL)
  # Stopped first, so that none can fork while the others die; repeated for those that forked meanwhile.
  sandkit_rounds=0
  while [ "$sandkit_rounds" -lt 100 ]; do
    sandkit_rounds=$((sandkit_rounds + 1))
    sandkit_pids=$(sandkit_marked "$1")
    [ -n "$sandkit_pids" ] || break
    kill -s STOP $sandkit_pids 2>/dev/null
    sandkit_late=$(sandkit_marked "$1")
    kill -s KILL $sandkit_pids $sandkit_late 2>/dev/null
  done
  ;;
*)
  sandkit_pids=$(sandkit_marked "$1")
  [ -z "$sandkit_pids" ] || kill -s "$2" $sandkit_pids 2>/dev/null
  ;;
esac
if [ -z "$(sandkit_marked "$1")" ]; then echo gone; else echo left; fi
