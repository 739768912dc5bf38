import { quote, type Run, stateOf } from "./nested.js";

/** `trap`, which just-bash does not have: what is set for EXIT runs when its shell, or subshell, is over. */
export const trap: Run = async (args, context) => {
  const state = stateOf(context);
  if (args.length === 0 || args[0] === "-p") {
    return done(state.exitTrap === undefined ? "" : `trap -- ${quote(state.exitTrap)} EXIT\n`);
  }
  const [action = "", ...conditions] = args[0] === "--" ? args.slice(1) : args;
  const names = conditions.map((name) => name.toUpperCase().replace(/^SIG/, ""));
  if (names.includes("EXIT") || names.includes("0")) state.exitTrap = action === "-" ? undefined : action;
  const others = names.filter((name) => name !== "EXIT" && name !== "0");
  if (others.length === 0 || action === "-" || action === "") return done("");
  const note = `sandkit: trap: handlers run at EXIT only; a signal ends this shell at once (${others.join(" ")})\n`;
  return { stdout: "", stderr: note, exitCode: 0 };
};

function done(stdout: string) {
  return { stdout, stderr: "", exitCode: 0 };
}
