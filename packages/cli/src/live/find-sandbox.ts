import { attachSandbox, type Provider, type Sandbox, SandboxError, type SandboxInfo } from "@sandkit/core";
import { chooseProvider } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { CommandError } from "../command-error.js";
import { UsageError } from "../usage-error.js";

/**
 * A living sandbox by what a person calls it: its id, the beginning of its id, or its name.
 * @throws CommandError where sandboxes cannot be found by another program; SandboxError `NOT_FOUND`
 */
export async function connect(
  values: Invocation["values"],
  reference: string,
  signal?: AbortSignal,
): Promise<{ readonly provider: Provider; readonly sandbox: Sandbox }> {
  const { provider } = await chooseProvider(values);
  requireReachable(provider);
  const { ref } = pick(await livingOf(provider), reference, provider.name);
  return { provider, sandbox: await attachSandbox(provider, ref, { signal }) };
}

/** Refuses providers whose sandboxes live in the process that made them. */
export function requireReachable(provider: Provider): void {
  const { features } = provider.capabilities;
  if (features.attach && features.list && features["lifetime.detached"]) return;
  const why = `sandboxes of provider "${provider.name}" live and end with the program that made them, and no other finds them`;
  throw new CommandError("UNSUPPORTED", 3, why, [
    { text: "run a program in a fresh one", command: `sandkit run --provider ${provider.name} FILE` },
    { text: "keep one elsewhere", command: "sandkit create --provider docker" },
  ]);
}

/** All that live, oldest first. */
export async function livingOf(provider: Provider, labels?: Readonly<Record<string, string>>): Promise<SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  for await (const info of provider.list({ labels })) found.push(info);
  return found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** The one that is meant. An id goes before a name, and a name before the beginning of an id. */
export function pick(living: readonly SandboxInfo[], reference: string, provider: string): SandboxInfo {
  const ways = [
    living.filter(({ ref }) => ref.id === reference),
    living.filter(({ name }) => name === reference),
    living.filter(({ ref }) => ref.id.startsWith(reference)),
  ];
  const meant = ways.find((found) => found.length > 0) ?? [];
  const [only, other] = meant;
  if (only && other === undefined) return only;
  if (only) {
    const ids = meant.map(({ ref }) => ref.id).join(", ");
    throw new UsageError(`"${reference}" could be any of ${meant.length} sandboxes: ${ids}`, [
      { text: "write more of the id" },
    ]);
  }
  throw new SandboxError("NOT_FOUND", `no sandbox is called "${reference}": sandkit ls shows those that live`, {
    provider,
    operation: "find",
  });
}

/** The first argument. @throws UsageError */
export function referenceOf({ positionals }: Invocation, usage: string): string {
  const [reference] = positionals;
  if (reference !== undefined && reference !== "") return reference;
  throw new UsageError("no sandbox is named", [
    { text: "by its id, the beginning of it, or its name", command: usage },
    { text: "those that live", command: "sandkit ls" },
  ]);
}
