import { access } from "node:fs/promises";
import { CommandError } from "../command-error.js";
import { table } from "../table.js";
import { type ClientName, clientNames, clients, type Machine } from "./clients.js";
import { openConfigFile } from "./config-file.js";
import { UnreadableConfig } from "./config-format.js";

interface Found {
  readonly client: ClientName;
  readonly title: string;
  readonly path: string;
  readonly installed: boolean;
  /** Whether its configuration has the server; undefined when it cannot be read. */
  readonly configured: boolean | undefined;
}

/** `sandkit init` without a client: which of them are here, and which of those have the server. */
export async function findClients(machine: Machine, name: string, json: boolean): Promise<number> {
  const found = await Promise.all(clientNames.map((client) => find(client, machine, name)));
  if (json) {
    process.stdout.write(`${JSON.stringify({ name, clients: found })}\n`);
    return 0;
  }
  const rows = found.map(({ client, title, path, installed, configured }) => [
    client,
    title,
    installed ? "found" : "-",
    configured === undefined ? "unreadable" : configured ? "has it" : "-",
    path,
  ]);
  process.stdout.write(table(["CLIENT", "PROGRAM", "HERE", name.toUpperCase(), "CONFIGURATION"], rows));
  const open = found.find(({ installed, configured }) => installed && configured === false);
  const next = open?.client ?? found.find(({ installed }) => installed)?.client ?? "NAME";
  process.stderr.write(`next: sandkit init --client ${next}\n`);
  return 0;
}

async function find(client: ClientName, machine: Machine, name: string): Promise<Found> {
  const { title, path: pathOf, traces, format } = clients[client];
  const path = pathOf(machine);
  const installed = (await exists(traces(machine))) || (await exists(path));
  return { client, title, path, installed, configured: await has(path) };

  async function has(file: string): Promise<boolean | undefined> {
    if (!(await exists(file))) return false;
    try {
      const { text = "" } = await openConfigFile(file);
      return Object.hasOwn(format.read(text), name);
    } catch (error) {
      // Shown as such; asking for this client by name tells why.
      if (error instanceof CommandError || error instanceof UnreadableConfig) return undefined;
      throw error;
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
