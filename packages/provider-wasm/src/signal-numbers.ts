/** The signals of Linux in the order of their numbers, from 1; programs in the sandbox know them by these. */
const names = (
  "SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM SIGTERM " +
  "SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO " +
  "SIGPWR SIGSYS"
).split(" ");

/** Signals that do nothing to a program that does not handle them. */
const harmless = new Set(["SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH"]);

/** The number of a signal; undefined for a name that is none. */
export function signalNumber(name: string): number | undefined {
  const index = names.indexOf(name);
  return index < 0 ? undefined : index + 1;
}

/** Whether the signal ends a program that does not handle it. */
export function endsByDefault(name: string): boolean {
  return !harmless.has(name);
}

/** The name of the signal with this number. */
export function signalOf(number: number): string | undefined {
  return names[number - 1];
}
