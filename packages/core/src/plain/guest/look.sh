# Makes the directories that are given, and prints which shells and interpreters there are, and whether git is.
umask 022
for sandkit_path in "$@"; do mkdir -p "$sandkit_path" || exit 1; done
for sandkit_name in sh bash zsh fish python3 node deno bun ruby perl php git; do
  if command -v "$sandkit_name" >/dev/null; then echo "$sandkit_name"; fi
done
