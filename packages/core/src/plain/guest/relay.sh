# Runs one program after another on a terminal that is raw, for remote/plain/shell-terminal.ts. A line each:
# In:  JOB run KIND CODE . runs the program that CODE (base64) leaves as "$@"; KIND is "stdin" or "none"
#      JOB in N SIZE       that many bytes of input, which follow; 0 for its end
#      JOB out N, JOB err N    so much of an output has come
#      JOB again           says again what may be lost       JOB probe N            answered at once
#      JOB over            both outputs have ended and come
# Out: JOB run, JOB in N (written), JOB seen N (come), JOB probe N
#      JOB out N TEXT, JOB err N TEXT   with no text at the end of that output
#      SANDKIT:TOKEN ready FACTS   once: PATH, home and directory, each with a zero byte, base64
# What was said is not forgotten before it has come: connections to a terminal break, and lose what is on its way.

# Also what is long goes to the terminal in one write, which no other one comes into: a shell's own is in one when short.
sandkit_say() {
  if [ "${#1}" -lt 900 ]; then
    printf '%s\n' "$1" >&9
  else
    printf '%s\n' "$1" | dd bs=131072 iflag=fullblock 2>/dev/null >&9
  fi
}

# In one line, which not every base64 knows how to.
if [ "$(echo | base64 -w0 2>/dev/null)" = Cg== ]; then
  sandkit_encode() { base64 -w0; }
else
  sandkit_encode() { base64 | tr -d '\n'; }
fi

# Says an output, piece by piece as it comes.
sandkit_pump() { # job name
  sandkit_count=0
  sandkit_text=more
  while [ -n "$sandkit_text" ]; do
    sandkit_text=$(dd bs=65536 count=1 2>/dev/null | sandkit_encode)
    sandkit_count=$((sandkit_count + 1))
    sandkit_say "$1 $2 $sandkit_count $sandkit_text"
    while read -r sandkit_word <&5 && [ "$sandkit_word" != "$1.$sandkit_count" ]; do
      sandkit_say "$1 $2 $sandkit_count $sandkit_text"
    done
  done
}

# Hands on so many bytes.
sandkit_take() {
  [ "$1" = 0 ] || dd bs="$1" count=1 iflag=fullblock 2>/dev/null
}

# Writes the input that comes to the program.
sandkit_give() { # job
  sandkit_count=0
  while read -r sandkit_number sandkit_size; do
    if [ "$sandkit_number" != again ]; then
      sandkit_count=$sandkit_number
      # After the end it goes on answering.
      if [ "$sandkit_size" = 0 ]; then exec >&-; else sandkit_take "$sandkit_size"; fi
    fi
    sandkit_say "$1 in $sandkit_count"
  done
}

sandkit_run() { # job code
  # In a session of its own, so that the terminal's end is not the end of what it leaves behind.
  {
    {
      {
        eval "$2"
        exec setsid "$@" 2>&3 3>&- 6>&- 7>&- 9>&-
      } | sandkit_pump "$1" out 5<&6 >/dev/null 3>&-
    } 3>&1 | sandkit_pump "$1" err 5<&7 >/dev/null
  }
}

# Takes what comes for a job. What is no line of it is what a terminal made of something else.
sandkit_hear() { # job
  sandkit_seen=0
  while IFS= read -r sandkit_line; do
    case $sandkit_line in
    "$1 in "*)
      sandkit_line=${sandkit_line#"$1 in "}
      if [ "${sandkit_line%% *}" -gt "$sandkit_seen" ]; then
        sandkit_seen=${sandkit_line%% *}
        # The pipe takes it all, as one comes only when the one before has been written.
        echo "$sandkit_line"
        sandkit_take "${sandkit_line#* }"
      else
        sandkit_take "${sandkit_line#* }" >/dev/null
      fi
      ;;
    "$1 out "*) echo "$1.${sandkit_line#"$1 out "}" >&6 ;;
    "$1 err "*) echo "$1.${sandkit_line#"$1 err "}" >&7 ;;
    "$1 run "*) sandkit_say "$1 run" ;;
    "$1 again")
      sandkit_say "$1 seen $sandkit_seen"
      echo again
      echo again >&6
      echo again >&7
      ;;
    "$1 probe "*) sandkit_say "$sandkit_line" ;;
    "$1 over") return ;;
    esac
  done
}

exec 9>&1
sandkit_folder=$(mktemp -d) && mkfifo "$sandkit_folder/out" "$sandkit_folder/err" || exit 1
exec 6<>"$sandkit_folder/out" 7<>"$sandkit_folder/err"
rm -r "$sandkit_folder"
sandkit_facts=$(printf '%s\0' "$2" "$HOME" "$(pwd)" | sandkit_encode)
cd /
unset TERM COLUMNS LINES SHLVL OLDPWD
sandkit_say "SANDKIT:$1 ready $sandkit_facts"
while IFS= read -r sandkit_line; do
  case $sandkit_line in
  *" run stdin "*" ." | *" run none "*" .") ;;
  *) continue ;;
  esac
  sandkit_name=${sandkit_line%% *}
  sandkit_kind=${sandkit_line#* run }
  sandkit_kind=${sandkit_kind% .}
  sandkit_code=$(printf '%s\n' "${sandkit_kind#* }" | base64 -d)
  sandkit_say "$sandkit_name run"
  case $sandkit_kind in
  stdin*) sandkit_hear "$sandkit_name" | sandkit_give "$sandkit_name" | sandkit_run "$sandkit_name" "$sandkit_code" ;;
  *) sandkit_hear "$sandkit_name" | sandkit_run "$sandkit_name" "$sandkit_code" </dev/null ;;
  esac
done
