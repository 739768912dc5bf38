import type { Run } from "./nested.js";

/** `rm` as just-bash has it, which would also take what no `rm` takes: the root, and where it stands. */
export const rm: Run = async (args, context) => {
  const end = args.indexOf("--");
  const isOption = (arg: string, index: number) => arg.startsWith("-") && arg !== "-" && (end < 0 || index < end);
  const complaints: string[] = [];
  const left = args.filter((arg, index) => {
    if (isOption(arg, index) || arg === "--") return true;
    if (context.fs.resolvePath(context.cwd, arg) === "/") {
      complaints.push("rm: it is dangerous to operate recursively on '/'\n");
    } else if (/(?:^|\/)\.\.?\/*$/.test(arg)) {
      complaints.push(`rm: refusing to remove '.' or '..' directory: skipping '${arg}'\n`);
    } else return true;
    return false;
  });
  if (complaints.length > 0 && left.every((arg, index) => isOption(arg, index) || arg === "--")) {
    return { stdout: "", stderr: complaints.join(""), exitCode: 1 };
  }
  const result = await context.origCommand?.(left);
  if (!result) throw new Error("not there");
  return {
    ...result,
    stderr: complaints.join("") + result.stderr,
    exitCode: complaints.length > 0 ? 1 : result.exitCode,
  };
};
