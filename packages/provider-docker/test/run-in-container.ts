import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { EngineConnector } from "../src/engine/connector.js";
import { demultiplex } from "../src/engine/demux.js";
import { hardenedContainer } from "../src/hardening.js";
import { removeContainer } from "../src/removal.js";
import { layOutWorkspace } from "../src/workspace.js";

/**
 * Runs one program in a container hardened as all are, with a text as its input; gives what it printed.
 * @param host The engine; default: the one that is found.
 */
export async function runInContainer(
  image: string,
  command: readonly string[],
  input: string,
  host?: string,
): Promise<string> {
  const engine = await new EngineConnector({ host }).connect();
  const name = `sandkit-test-${randomUUID()}`;
  const plan = hardenedContainer({
    image,
    command,
    first: "shell",
    labels: {},
    user: "1000:1000",
    workspace: layOutWorkspace({ memoryMiB: 1024 }),
    cpus: 2,
    pids: 256,
    network: "none",
    unsafeRoot: false,
    attached: true,
    volumes: [],
  });
  try {
    await engine.create({ name, ...plan, Env: ["HOME=/tmp", "GOCACHE=/tmp/go"] });
    const streams = await engine.attach(name);
    const { stdout, stderr } = demultiplex(streams);
    await engine.container(name).start();
    streams.end(input);
    const printed = await text(stdout);
    if (printed === "") throw new Error(`${command.join(" ")} printed nothing: ${stderr()}`);
    return printed;
  } finally {
    await removeContainer(engine, name);
  }
}
