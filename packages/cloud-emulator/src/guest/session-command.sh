# Carries the streams of one command of a session: stdin, stdout and stderr of this program are those of the command,
# which the session's shell opens as the pipes `in`, `out` and `err` of the folder $1. Ends when nobody has the
# outputs of the command open any more.
cd "$1" || exit 1
mkfifo in out err || exit 1
# What runs in the background reads nothing of stdin unless it is another descriptor.
exec 3<&0
cat <&3 >in &
feeder=$!
cat err >&2 &
errors=$!
cat out
wait "$errors"
kill "$feeder" 2>/dev/null
