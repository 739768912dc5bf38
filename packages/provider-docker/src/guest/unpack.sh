# Unpacks an archive that is kept in parts: the directory of the parts, then the arguments of tar, which reads it.
parts=$1
shift
cat "$parts"/* | tar "$@"
