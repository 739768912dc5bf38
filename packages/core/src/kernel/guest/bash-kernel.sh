# Cells in bash 4.1 or later. This is read, line by line, by an interactive shell whose input is the host's: nothing but
# a fatal error ends such a shell, and an interrupt, an unset variable under `set -u` or a failed expansion gives up the
# running line alone. A cell is the line
#     __sandkit_begin ID; eval 'CODE' </dev/null 4>&-
# and the prompt that follows it tells the host of its end.
#
# `exit` gives up the cell too, and so does a failing command under `set -e`, so that the state outlives both. What
# ends the shell, and is told as lost state: `exec PROGRAM`, `exit` under `set -o posix`, an unset variable under both
# `set -e` and `set -u`.
PS1= PS2=
exec 2>&5 5>&-
set +o history +H -E
unset HISTFILE TMOUT MAILCHECK
__sandkit_id= __sandkit_code= __sandkit_errexit= __sandkit_stderr=

# Gives up the line, in silence.
__sandkit_stop() {
    [[ $BASHPID == "$$" && $__sandkit_id ]] || return 0
    exec {__sandkit_stderr}>&2 2>/dev/null
    kill -INT "$$"
}

# On every failing command that `set -e` would end the shell for. A subshell may end.
__sandkit_failed() {
    [[ $- == *e* && $BASHPID == "$$" ]] || return 1
    set +e
    __sandkit_errexit=1 __sandkit_code=$1
}

exit() {
    local status=${1-$?}
    [[ $BASHPID == "$$" ]] || builtin exit "$status"
    if [[ ! $status =~ ^[-+]?[0-9]+$ ]]; then
        echo "exit: $status: numeric argument required" >&2
        status=2
    fi
    __sandkit_code=$((status & 255))
    __sandkit_stop
}

# A trap on ERR goes on before ours, without which `set -e` would end the shell.
trap() {
    if [[ $# -eq 2 && $2 == ERR && $BASHPID == "$$" ]]; then
        if [[ $1 == - || ! $1 ]]; then
            builtin trap 'if __sandkit_failed $?; then __sandkit_stop; fi' ERR
        else
            builtin trap "$1"$'\nif __sandkit_failed 1; then __sandkit_stop; fi' ERR
        fi
    else
        builtin trap "$@"
    fi
}

__sandkit_begin() {
    local status=$__sandkit_status
    __sandkit_id=$1 __sandkit_code=
    builtin trap - INT
    printf '{"id":%d,"started":true}\n' "$1" >&4
    if [[ $__sandkit_errexit ]]; then
        __sandkit_errexit=
        set -e
        return 0
    fi
    return "$status"
}

# Before each line is read. An interrupt that comes now has nothing to stop.
__sandkit_prompt() {
    __sandkit_status=$?
    builtin trap : INT
    if [[ $- == *e* ]]; then
        set +e
        __sandkit_errexit=1
    fi
    if [[ $__sandkit_stderr ]]; then
        exec 2>&"$__sandkit_stderr" {__sandkit_stderr}>&-
        __sandkit_stderr=
    fi
    [[ $__sandkit_id ]] || return 0
    __sandkit_status=${__sandkit_code:-$__sandkit_status}
    local id=$__sandkit_id
    __sandkit_id=
    printf '{"id":%d,"done":{"exitCode":%d}}\n' "$id" "$__sandkit_status" >&4
}

builtin trap 'if __sandkit_failed $?; then __sandkit_stop; fi' ERR
builtin trap : INT
readonly PROMPT_COMMAND=__sandkit_prompt
printf '{"ready":true}\n' >&4
