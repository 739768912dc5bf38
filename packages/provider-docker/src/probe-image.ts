import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { SandboxError } from "@sandkit/core";
import { ownerLabel } from "@sandkit/core/kit";
import type { Container } from "dockerode";
import type { EngineClient } from "./engine/client.js";
import { demultiplex } from "./engine/demux.js";
import { type CallContext, engineError, onEngine, providerName, statusOf } from "./errors.js";
import { type FirstProgram, hardenedContainer } from "./hardening.js";
import { createdKey, ownerKey } from "./labels.js";
import { removeContainer } from "./removal.js";
import { layOutWorkspace } from "./workspace.js";

const python = `import sys; sys.version_info < (3, 9) or print("python")`;
const node = `Number(process.versions.node.split(".")[0]) < 18 || console.log("node")`;

/** First programs that tell what there is; the later ones are for images without a shell. */
const looks: readonly (readonly string[])[] = [
  ["sh", "-c", `python3 -I -S -c '${python}' 2>/dev/null; node -e '${node}' 2>/dev/null; echo shell`],
  ["python3", "-I", "-S", "-c", python],
  ["node", "-e", node],
];

/**
 * Looks once into an image, by a container of it without anything: which agent its sandboxes can start with.
 * @throws SandboxError `INVALID` for an image that has neither a shell nor an interpreter
 */
export async function probeImage(
  engine: EngineClient,
  image: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<FirstProgram> {
  for (const command of looks) {
    signal.throwIfAborted();
    const found = (await run(engine, image, command))?.split("\n") ?? [];
    const first = (["python", "node", "shell"] as const).find((name) => found.includes(name));
    if (first) return first;
  }
  throw new SandboxError(
    "INVALID",
    `image ${image} has neither sh nor python3 (3.9 or newer) nor node (18 or newer): a sandbox needs one of them`,
    { provider: providerName, operation: "create" },
  );
}

/** What a program of the image prints; undefined when the image does not have it. */
async function run(engine: EngineClient, image: string, command: readonly string[]): Promise<string | undefined> {
  const name = `sandkit-look-${randomUUID()}`;
  const context = { operation: "create", subject: `image ${image}` };
  const plan = hardenedContainer({
    image,
    command,
    first: "shell",
    labels: { [ownerKey]: await ownerLabel(), [createdKey]: String(Date.now()) },
    user: "1000:1000",
    workspace: layOutWorkspace({ memoryMiB: 256 }),
    cpus: 1,
    pids: 64,
    network: "none",
    unsafeRoot: false,
    attached: false,
    volumes: [],
  });
  try {
    const container = await onEngine(context, () => engine.create({ name, ...plan }));
    const { stdout } = demultiplex(await onEngine(context, () => engine.attach(name)));
    const started = await starts(container, context);
    return started ? await text(stdout) : undefined;
  } finally {
    await removeContainer(engine, name);
  }
}

/** Whether the engine finds the program in the image. */
async function starts(container: Container, context: CallContext): Promise<boolean> {
  try {
    await container.start();
    return true;
  } catch (error) {
    const status = statusOf(error);
    // The engine cannot start what is not there, and says so with one of these.
    if (status === 400 || status === 404 || status === 500) return false;
    throw engineError(error, context);
  }
}
