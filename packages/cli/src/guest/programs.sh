# Lists what detach.sh has started, oldest first: ID, state, start in seconds, bytes of output and command, with tabs
# between them.
cd /tmp/.sandkit-programs 2>/dev/null || exit 0
for id in $(ls -tr); do
  [ -f "$id/command" ] || continue
  if [ -f "$id/exit" ]; then state="exited $(cat "$id/exit")"
  elif kill -0 "$(cat "$id/pid")" 2>/dev/null; then state=running
  else state=killed; fi
  printf '%s\t%s\t%s\t%s\t%s\n' "$id" "$state" "$(stat -c %Y "$id/command")" "$(wc -c <"$id/output")" \
    "$(tr '\0\n\t' '   ' <"$id/command" | cut -c1-200)"
done
