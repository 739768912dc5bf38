# Starts one kind of child that is hard to end, says so, and waits: sh -c SOURCE sh KIND.
# The odd number of seconds is what whoever counts them looks for.
stubborn='trap "" TERM HUP INT; while :; do sleep 60600; done'

case $1 in
  background) sleep 60600 & ;;
  setsid) setsid sleep 60600 & ;;
  double-fork) (setsid env -i /bin/sh -c "$stubborn" &) ;;
  ignores-sigterm) sh -c "$stubborn" & ;;
  nohup) nohup sleep 60600 >/dev/null 2>&1 & ;;
  tree)
    # Ignored here, it is ignored by all that are started from here.
    trap "" TERM
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 60600 & done
    ;;
esac
echo started
while :; do sleep 60600; done
