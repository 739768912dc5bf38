# Cells in bash 4.1 or later. This is read, line by line, by an interactive shell whose input is the host's: nothing but
# a fatal error ends such a shell, and an interrupt, an unset variable under `set -u` or a failed expansion gives up the
# running line alone. The line `__sandkit_begin ID 'CODE'` asks for a cell. It runs before the next prompt, where bash
# does not speak of jobs as it would to a person; whatever becomes of it, that prompt or the one after tells of its end.
#
# `exit` gives up the cell too, and so does a failing command under `set -e`, so that the state outlives both. What
# ends the shell all the same, above all an unset variable under both `set -e` and `set -u`, starts it anew with its
# variables, functions, aliases, options, traps and directory; the new one knows no jobs of the old one. Only
# `exec PROGRAM` is told as lost state. What runs for each cell calls no builtin by its bare name: a cell may have a
# function or an alias of that name.
PS1= PS2=
set +o history +H -E
shopt -s execfail
unset HISTFILE TMOUT MAILCHECK
__sandkit_id= __sandkit_todo= __sandkit_code= __sandkit_status=0 __sandkit_stderr=
__sandkit_errexit= __sandkit_xtrace= __sandkit_exit_trap=

# Takes over our descriptors and copies of the standard streams, so that no program inherits them: bash closes in
# programs what it has put aside for the time of a redirection, and what is copied from there.
__sandkit_open() {
    command exec 2>&5 5>&-
    builtin local free
    command exec {free}<&0
    command exec {free}<&-
    __sandkit_copy "$free" <&1 4>&1 1>&2 2>&4
    command exec 4>&-
}

__sandkit_copy() {
    command exec {__sandkit_in}<&"$1" {__sandkit_out}>&$(($1 + 1)) {__sandkit_1}>&$(($1 + 2)) {__sandkit_2}>&$(($1 + 3))
}

# Gives up the line, in silence.
__sandkit_stop() {
    [[ $BASHPID == "$$" && $__sandkit_id ]] || builtin return 0
    command exec {__sandkit_stderr}>&2 2>/dev/null
    builtin kill -INT "$$"
}

# On every failing command that `set -e` would end the shell for. A subshell may end.
__sandkit_failed() {
    [[ $- == *e* && $BASHPID == "$$" ]] || builtin return 1
    builtin set +e
    __sandkit_errexit=1 __sandkit_code=$1
}

exit() {
    builtin local status=${1-$?}
    [[ $BASHPID == "$$" ]] || builtin exit "$status"
    if [[ ! $status =~ ^[-+]?[0-9]+$ ]]; then
        builtin echo "exit: $status: numeric argument required" >&2
        status=2
    fi
    __sandkit_code=$((status & 255))
    __sandkit_stop
}

# A trap on ERR goes on before ours, without which `set -e` would end the shell; one on EXIT is kept for its real end.
trap() {
    if [[ $# -lt 2 || $1 == -[lp]* || $BASHPID != "$$" ]]; then
        builtin trap "$@"
        return
    fi
    [[ $1 != -- ]] || shift
    local action=$1 name status=0
    [[ $action != - ]] || action=
    for name in "${@:2}"; do
        case ${name^^} in
        EXIT | 0) __sandkit_exit_trap=$action ;;
        ERR)
            if [[ $action ]]; then
                builtin trap "$action"$'\nif __sandkit_failed 1; then __sandkit_stop; fi' ERR
            else
                builtin trap 'if __sandkit_failed $?; then __sandkit_stop; fi' ERR
            fi
            ;;
        *) builtin trap -- "$1" "$name" || status=$? ;;
        esac
    done
    return "$status"
}

# At the end of the shell, which is none when a cell runs.
__sandkit_end() {
    __sandkit_code=$__sandkit_seen
    if [[ ! $__sandkit_id ]]; then
        builtin eval "$__sandkit_exit_trap"
        builtin return
    fi
    # Bash has no status of an expansion that failed.
    [[ $__sandkit_code != 0 || $BASH_COMMAND == *exit* ]] || __sandkit_code=1
    [[ $- != *e* ]] || __sandkit_errexit=1
    builtin set +e
    builtin local __sandkit_name
    # The arguments are the shell's own, unless a function runs: what is behind those cannot be had.
    if [[ ${FUNCNAME[1]-source} != source ]]; then
        builtin set --
        while IFS= builtin read -r __sandkit_name; do
            [[ ! $__sandkit_name ]] || builtin unset -v "$__sandkit_name"
        done <<<"$(builtin compgen -v | __sandkit_hidden)"
    fi
    # By way of 1, where bash does not take over that a descriptor is closed in programs.
    builtin exec "$BASH" -c "$__sandkit_restart" 6<<<"$(__sandkit_state "$@")" <&"$__sandkit_in" \
        >&"$__sandkit_out" 4>&1 >&"$__sandkit_2" 5>&1 >&"$__sandkit_1" 2>/dev/null
}

__sandkit_restart='PROMPT_COMMAND='\''__sandkit_state=$(</dev/fd/6); exec 6<&-; eval "$__sandkit_state" >/dev/null; __sandkit_open; __sandkit_rest'\''
export PROMPT_COMMAND
exec "$BASH" --noprofile --norc --noediting -i +m'

# Reads the names of variables and gives those of which functions that run have their own, once for each function.
# Removing that brings the one behind it to light.
__sandkit_hidden() {
    builtin local __sandkit_name __sandkit_depth
    while IFS= builtin read -r __sandkit_name; do
        [[ $__sandkit_name != __sandkit_* ]] || continue
        builtin declare -g "$__sandkit_name=7131" || continue
        for ((__sandkit_depth = 0; __sandkit_depth < ${#FUNCNAME[@]}; __sandkit_depth++)); do
            [[ ${!__sandkit_name-} != 7131 ]] || break
            builtin unset -v "$__sandkit_name"
        done
        [[ ${!__sandkit_name-} == 7131 ]] || continue
        for (( ; __sandkit_depth > 0; __sandkit_depth--)); do builtin echo "$__sandkit_name"; done
    done 2>/dev/null
}

# A program that makes the state again. What it restores first is needed to read the rest, or would be in the way of it.
__sandkit_state() {
    builtin echo 'export -n PROMPT_COMMAND; unset HISTFILE'
    builtin shopt -p
    builtin declare -p
    builtin trap -p
    builtin declare -f
    builtin declare -F
    builtin alias -p
    builtin echo "set --${1+$(builtin printf ' %q' "$@")}"
    builtin set +o
}

__sandkit_begin() {
    __sandkit_id=$1 __sandkit_todo=$2
}

# Its status is that of the cell before.
__sandkit_start() {
    __sandkit_cell=$__sandkit_todo __sandkit_todo= __sandkit_code=
    [[ ! $__sandkit_xtrace ]] || __sandkit_cell="builtin set -x; $__sandkit_cell"
    __sandkit_xtrace=
    builtin trap - INT
    builtin printf '{"id":%d,"started":true}\n' "$__sandkit_id" >&"$__sandkit_out"
    if [[ $__sandkit_errexit ]]; then
        __sandkit_errexit=
        builtin set -e
        builtin return 0
    fi
    builtin return "$__sandkit_status"
}

# Ends the trace of `set -x`, which has nothing to say of us.
__sandkit_quiet() {
    __sandkit_seen=$?
    if [[ $- == *x* ]]; then
        builtin set +x
        __sandkit_xtrace=1
    fi
}

# Before a prompt. An interrupt that comes now has nothing to stop.
__sandkit_rest() {
    builtin trap : INT
    if [[ $- == *e* ]]; then
        builtin set +e
        __sandkit_errexit=1
    fi
    if [[ $__sandkit_stderr ]]; then
        command exec 2>&"$__sandkit_stderr" {__sandkit_stderr}>&-
        __sandkit_stderr=
    fi
    [[ $__sandkit_id && ! $__sandkit_todo ]] || builtin return 0
    __sandkit_status=${__sandkit_code:-$__sandkit_seen}
    builtin local id=$__sandkit_id
    __sandkit_id=
    builtin printf '{"id":%d,"done":{"exitCode":%d}}\n' "$id" "$__sandkit_status" >&"$__sandkit_out"
}

__sandkit_open
builtin trap 'if __sandkit_failed $?; then __sandkit_stop; fi' ERR
builtin trap '{ __sandkit_quiet; } 2>/dev/null; __sandkit_end "$@"' EXIT
builtin trap : INT
# In both branches the cell sees the status, which is no failure that `set -e` or a trap would care for.
__sandkit_run='if __sandkit_start; then builtin eval "$__sandkit_cell" </dev/null; else builtin eval "$__sandkit_cell" </dev/null; fi
{ __sandkit_quiet; } 2>/dev/null'
# What is sourced has its lines counted from 1. Where that cannot be had, a cell runs all the same.
readonly PROMPT_COMMAND='{ __sandkit_quiet; } 2>/dev/null
__sandkit_rest
if [[ $__sandkit_todo ]]; then
    builtin . /dev/stdin <<<"$__sandkit_run"
    if [[ $__sandkit_todo ]]; then builtin eval "$__sandkit_run"; fi
    __sandkit_rest
fi'
printf '{"ready":true}\n' >&"$__sandkit_out"
