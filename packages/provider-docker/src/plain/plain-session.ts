import type { ProviderSession } from "@sandkit/core";
import { PlainBox } from "@sandkit/core/kit";
import type { Demultiplexed } from "../engine/demux.js";
import { directoriesOf } from "../environment.js";
import { providerName } from "../errors.js";
import { type Box, type FirstWords, infoOf, removalOf } from "../session.js";
import { writeTexts } from "../write-texts.js";
import { containerPlace, lostSandbox } from "./engine-exec.js";

/** First program of a box without an agent: lives as long as somebody holds its input. Needs nothing but a shell. */
export const plainCommand: readonly string[] = ["sh", "-c", "while read -r _; do :; done"];

/** A session that may end by itself. */
export interface PlainSession extends ProviderSession {
  /** Settles when the container has lost its owner or its life; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * The session of a box whose image has neither Python nor Node: a program of the engine's for each command.
 * @throws SandboxError `UNAVAILABLE` when the image's tools are not enough, `SANDBOX_LOST`; or `signal.reason`
 */
export async function openPlainSession(
  box: Box,
  { source: streams, stdout }: Demultiplexed,
  words: FirstWords,
  signal?: AbortSignal,
): Promise<PlainSession> {
  const { engine, container, record } = box;
  const inspected = await engine.inspect(container);
  if (!inspected) throw lostSandbox(record.id);
  const remove = removalOf(box);
  const closed = new Promise<void>((resolve) => {
    streams.once("close", () => resolve());
  });
  // What the first program writes is nothing, and nobody listens.
  stdout.resume();
  closed.then(remove).catch(() => undefined);
  const plain = await PlainBox.open(containerPlace(engine, inspected, record.id), {
    capabilities: box.capabilities,
    workdir: record.workdir,
    env: words.env ?? {},
    directories: directoriesOf(record),
    signal,
  });
  closed.then(() => plain.abandon(lostSandbox(record.id)));
  await writeTexts(plain, words.files ?? {}, signal);
  const ref = { provider: providerName, id: record.id };
  const { capabilities, files, shells, interpreters } = plain;
  return {
    ref,
    workdir: record.workdir,
    capabilities,
    files,
    closed,
    native: { container: engine.container(container), dockerode: engine.dockerode },
    spawn: (command, options) => plain.spawn(command, options),
    process: async (id) => plain.process(id),
    info: async () => ({ ref, ...(await infoOf(box)), shells, interpreters }),
    async destroy() {
      await remove();
      streams.destroy();
    },
  };
}
