# For ~/.zshrc, after compinit: source <(sandkit completion zsh)
_sandkit() {
  local -a found
  found=(${(f)"$(command sandkit completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
  # What is not known here may be a file.
  if (($#found)); then _describe -V sandkit "found"; else _files; fi
}
compdef _sandkit sandkit
