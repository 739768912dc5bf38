import { homedir } from "node:os";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { configOf, mistyped } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { CommandError } from "../command-error.js";
import { paintFor } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { type ClientName, type ClientSpec, clientNames, clients, type Machine } from "./clients.js";
import { type ConfigFile, openConfigFile } from "./config-file.js";
import { type Entry, UnreadableConfig } from "./config-format.js";
import { difference } from "./difference.js";
import { findClients } from "./find-clients.js";
import { isPlainJson } from "./json-format.js";
import { prettyJson } from "./pretty-json.js";
import { type Start, serverEntry, starts, usualStart } from "./server-entry.js";

/** `sandkit init`: writes the entry into a client's configuration; resolves with the exit code. */
export async function setUpClient(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const machine: Machine = { platform: process.platform, env: process.env, home: homedir() };
  const name = nameOf(values.name);
  const client = clientNames.find((candidate) => candidate === values.client);
  if (client === undefined) {
    const idle = ["print", "dry-run", "force", "provider", "config", "env", "start"].find((option) => option in values);
    if (idle === undefined) return await findClients(machine, name, values.json === true);
    throw new UsageError(`option "--${idle}" needs a client`, [
      { text: `one of: --client ${clientNames.join(" | ")}` },
    ]);
  }
  const wrong = typeof values.provider === "string" ? mistyped(values.provider) : undefined;
  if (wrong) throw wrong;
  const spec = clients[client];
  const entry = spec.shape(
    serverEntry({
      start: startOf(values.start),
      provider: text(values.provider),
      config: typeof values.config === "string" ? resolve(values.config) : undefined,
      env: environmentOf(invocation.every.env),
      platform: machine.platform,
    }),
  );
  const path = spec.path(machine);
  if (values.print) {
    const data = { client, path, name, entry };
    process.stdout.write(values.json ? `${JSON.stringify(data)}\n` : spec.format.render(name, entry));
    if (process.stderr.isTTY) process.stderr.write(`goes into ${path}\n`);
    return 0;
  }
  // A config that the server would refuse is told now, not in the log of a client.
  if (values.config) await configOf({ config: values.config });
  const file = await openConfigFile(path);
  const plan = planOf(spec, file, name, entry, values.force === true);
  if (plan.state !== "unchanged" && !values["dry-run"]) await file.write(plan.text);
  tell({ client, spec, name, entry, file, plan, values });
  return 0;
}

interface Plan {
  readonly state: "added" | "replaced" | "unchanged";
  readonly text: string;
}

/** @throws CommandError for a file that is not what the client reads, and for another entry of the name */
function planOf(spec: ClientSpec, file: ConfigFile, name: string, entry: Entry, force: boolean): Plan {
  const { format } = spec;
  const { path, text = "" } = file;
  if (file.text === undefined) return { state: "added", text: format.render(name, entry) };
  try {
    const servers = format.read(text);
    if (!Object.hasOwn(servers, name)) return { state: "added", text: format.put(text, name, entry) };
    const existing = servers[name];
    if (isDeepStrictEqual(structuredClone(existing), structuredClone(entry))) return { state: "unchanged", text };
    if (force) return { state: "replaced", text: format.put(text, name, entry) };
    throw new CommandError("CONFLICT", 1, `${path} has another server "${name}":\n${shown(existing)}`, [
      { text: "give this one a name of its own: --name NAME" },
      { text: "put it in the other's place: --force" },
    ]);
  } catch (error) {
    if (!(error instanceof UnreadableConfig)) throw error;
    const place = error.line === undefined ? path : `${path}, line ${error.line}`;
    throw new CommandError("INVALID", 3, `${place}: ${error.message}; nothing was changed`, [
      { text: "mend the file" },
      { text: "add the entry by hand: --print shows it" },
    ]);
  }
}

interface Done {
  readonly client: ClientName;
  readonly spec: ClientSpec;
  readonly name: string;
  readonly entry: Entry;
  readonly file: ConfigFile;
  readonly plan: Plan;
  readonly values: Invocation["values"];
}

function tell({ client, spec, name, entry, file, plan, values }: Done): void {
  const { state } = plan;
  const { path, text } = file;
  const dryRun = values["dry-run"] === true;
  const warning =
    spec.plainJson === true && text !== undefined && text.trim() !== "" && !isPlainJson(text)
      ? `${path} has comments or trailing commas, which ${spec.title} does not read: remove them`
      : undefined;
  if (values.json) {
    const data = { client, path, name, state, dryRun, entry, next: spec.next, ...(warning && { warning }) };
    process.stdout.write(`${JSON.stringify(data)}\n`);
    return;
  }
  if (dryRun && state !== "unchanged") {
    process.stdout.write(difference(path, text ?? "", plan.text, paintFor(process.stdout)));
    process.stderr.write("nothing was written: leave out --dry-run to do so\n");
    return;
  }
  process.stdout.write(`${state} "${name}" in ${path}\n`);
  if (warning) process.stderr.write(`warning: ${warning}\n`);
  process.stderr.write(`next: ${spec.next}\n`);
  if (typeof values.provider === "string") process.stderr.write(`then: sandkit doctor ${values.provider}\n`);
}

function shown(entry: unknown): string {
  // Other people's entries hold other people's keys.
  const json = prettyJson(
    JSON.parse(JSON.stringify(entry, (key, value) => (key === "env" || key === "headers" ? hidden(value) : value))),
    "  ",
  );
  return json
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}

function hidden(values: unknown): unknown {
  if (typeof values !== "object" || values === null) return "…";
  return Object.fromEntries(Object.keys(values).map((key) => [key, "…"]));
}

function nameOf(value: string | true | undefined): string {
  if (value === undefined) return "sandkit";
  if (typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new UsageError(`option "--name" cannot be "${value}"`, [
    { text: "letters, digits, - and _ alone: clients make names of tools of it" },
  ]);
}

function startOf(value: string | true | undefined): Start {
  return starts.find((start) => start === value) ?? usualStart();
}

function environmentOf(pairs: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
      throw new UsageError(`option "--env" cannot be "${pair}"`, [
        { text: "a name and a value: --env E2B_API_KEY=e2b_…" },
      ]);
    }),
  );
}

function text(value: string | true | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
