# Carries the streams of one command of a session: stdin, stdout and stderr of this program are those of the command,
# which the session's shell opens as the pipes `in`, `out` and `err` of the folder $1. Ends when nobody has the
# outputs of the command open any more.
cd "$1" || exit 1
mkfifo in out err || exit 1
cat <&0 >in &
feeder=$!
cat err >&2 &
errors=$!
cat out
wait "$errors"
kill "$feeder"
