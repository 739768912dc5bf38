import type { SimpleCommandNode } from "just-bash";
import { bytesOfLatin1, bytesOfText } from "./bytes.js";
import { host } from "./globals.js";

type RedirectionNode = SimpleCommandNode["redirections"][number];

/** Where a stream leads: to the job's stdout (1) or stderr (2) at once, or into the result of whoever collects it (0). */
type Route = 0 | 1 | 2;

/** Where the two streams of what runs lead. */
export interface Routes {
  readonly 1: Route;
  readonly 2: Route;
}

/** The state of a script, as far as it counts for its output. */
export interface RoutedState {
  /** Undefined where all is collected. */
  routes?: Routes | undefined;
  /** What `exec` has redirected, by file descriptor. */
  readonly fileDescriptors?: { has(fd: number): boolean } | undefined;
  readonly closedStandardFds?: { has(fd: number): boolean } | undefined;
}

/** What a command gives back, as far as it is output. */
interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutKind?: "text" | "bytes";
  readonly stdoutEncoding?: "binary";
  readonly internalOutputAccounting?: { readonly stdout: number; readonly stderr: number };
}

export const ownRoutes: Routes = { 1: 1, 2: 2 };
export const noRoutes: Routes = { 1: 0, 2: 0 };

/** Where what a program writes may go at once: not past a redirection by `exec`. */
export function routesOf({ routes, fileDescriptors, closedStandardFds }: RoutedState): Routes {
  const route = (fd: 1 | 2): Route =>
    fileDescriptors?.has(fd) || closedStandardFds?.has(fd) ? 0 : (routes?.[fd] ?? 0);
  return { 1: route(1), 2: route(2) };
}

/** Runs something whose output leads elsewhere. */
export async function within<Result>(
  state: RoutedState,
  routes: Routes | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  const before = state.routes;
  state.routes = routes;
  try {
    return await run();
  } finally {
    state.routes = before;
  }
}

/** Where the streams lead after a redirection. */
export function redirect(routes: Routes, { fd, fdVariable, operator, target }: RedirectionNode): Routes {
  if (fdVariable !== undefined) return routes;
  if (operator === "&>" || operator === "&>>") return noRoutes;
  const to = "parts" in target && target.parts.length === 1 ? target.parts[0] : undefined;
  const name = to?.type === "Literal" ? to.value : "";
  if (operator === ">&" && fd === null && !/^(?:\d+|-)$/.test(name)) return noRoutes;
  const stream = fd ?? (operator.startsWith("<") ? 0 : 1);
  if (stream !== 1 && stream !== 2) return routes;
  const route = operator === ">&" && (name === "1" || name === "2") ? routes[name] : 0;
  return { ...routes, [stream]: route };
}

/** Lets output out as far as it leads there; gives what remains. */
export function letOut<Result extends Output>({ routes }: RoutedState, result: Result): Result {
  const [out, err] = [result.stdout === "" ? 0 : routes?.[1], result.stderr === "" ? 0 : routes?.[2]];
  if (!out && !err) return result;
  if (out) host.write(out, bytesOfOutput(result));
  if (err) host.write(err, bytesOfText(result.stderr));
  const { internalOutputAccounting: counted } = result;
  return {
    ...result,
    ...(out && { stdout: "", stdoutKind: undefined, stdoutEncoding: undefined }),
    ...(err && { stderr: "" }),
    ...(counted && {
      internalOutputAccounting: { stdout: out ? 0 : counted.stdout, stderr: err ? 0 : counted.stderr },
    }),
  };
}

export function bytesOfOutput({ stdout, stdoutKind, stdoutEncoding }: Output): Uint8Array {
  const binary = stdoutKind === "bytes" || (stdoutKind === undefined && stdoutEncoding === "binary");
  return binary ? bytesOfLatin1(stdout) : bytesOfText(stdout);
}
