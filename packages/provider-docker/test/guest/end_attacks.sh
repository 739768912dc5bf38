# Ends the programs that attack the network from inside, whenever one is tried.
while :; do
  for process in /proc/[0-9]*; do
    grep -q 'Attacks on the [n]etwork' "$process/cmdline" && kill -9 "${process#/proc/}"
  done 2>/dev/null
done
