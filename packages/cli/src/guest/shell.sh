# An interactive shell, of the kind that runs this. Usage: SHELL -c "$(cat shell.sh)" SHELL PROMPT
export PS1="$1"
[ "$0" = bash ] || exec "$0" -i
# Bash reads from here what comes after the settings of its image, which know their own prompts better.
exec bash --rcfile /dev/fd/3 -i 3<<'SETTINGS'
exec 3<&-
[ -r ~/.bashrc ] && . ~/.bashrc
# The user of a sandbox need not be in its /etc/passwd; bash would write a complaint in the place of the name.
if ! id -un >/dev/null 2>&1; then
  PS1=${PS1//'\u@\h'/sandkit}
  PS1=${PS1//'\u'/sandkit}
fi
# Other shells write it otherwise.
export -n PS1
SETTINGS
