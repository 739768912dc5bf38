# For ~/.bashrc: source <(sandkit completion bash)
_sandkit() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <(command sandkit completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
# What is not known here may be a file.
complete -o default -F _sandkit sandkit
