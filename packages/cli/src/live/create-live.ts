import type { CreateOptions, Resources } from "@sandkit/core";
import { chooseProvider } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { parsePairs } from "../pairs.js";
import { withProgress } from "../progress.js";
import { createOrUndo } from "../run/create-or-undo.js";
import { Interrupts } from "../run/interrupts.js";
import { parseSeconds } from "../seconds.js";
import { UsageError } from "../usage-error.js";
import { requireReachable } from "./find-sandbox.js";

/** `sandkit create`: a sandbox that outlives this command; prints its id, and resolves with the exit code. */
export async function createLive(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const asked = optionsOf(invocation);
  const { provider, defaults } = await chooseProvider(values);
  requireReachable(provider);
  const quiet = values.quiet === true || values.json === true;
  const interrupts = new Interrupts();
  try {
    const sandbox = await withProgress(`starting a sandbox (${provider.name})`, quiet, (onProgress) =>
      createOrUndo(provider, { ...withoutImage(defaults, asked), ...asked, onProgress, signal: interrupts.creation }),
    );
    const { ref } = sandbox;
    process.stdout.write(values.json ? `${JSON.stringify(await sandbox.info())}\n` : `${ref.id}\n`);
    if (!quiet && process.stderr.isTTY)
      process.stderr.write(`next: sandkit shell ${ref.id.slice(0, 8)}; it ends some minutes after its last use\n`);
    return 0;
  } catch (error) {
    if (interrupts.exitCode !== undefined) return interrupts.exitCode;
    throw error;
  } finally {
    interrupts[Symbol.dispose]();
  }
}

/** Of image and template that one counts which is named here. */
function withoutImage({ template, image, ...others }: CreateOptions, asked: CreateOptions): CreateOptions {
  return asked.template === undefined && asked.image === undefined ? { template, image, ...others } : others;
}

function optionsOf({ values, every }: Invocation): CreateOptions {
  const text = (name: string) => (typeof values[name] === "string" ? { [name]: values[name] } : {});
  const resources = resourcesOf(values);
  return {
    ...text("name"),
    ...text("template"),
    ...text("image"),
    lifetime: { detached: true, ttlMs: parseSeconds("ttl", values.ttl), idleMs: parseSeconds("idle", values.idle) },
    ...(every.env && { env: parsePairs("env", every.env) }),
    ...(every.label && { labels: parsePairs("label", every.label) }),
    ...(every.with && { packages: every.with }),
    ...(every.allow && { network: { allow: every.allow } }),
    ...(Object.keys(resources).length > 0 && { resources }),
  };
}

function resourcesOf(values: Invocation["values"]): Resources {
  const numbers = { cpus: "cpus", memory: "memoryMiB", disk: "diskMiB" } as const;
  return Object.fromEntries(
    Object.entries(numbers).flatMap(([option, name]) => {
      const value = values[option];
      if (value === undefined) return [];
      const number = Number(value);
      if (number > 0) return [[name, number]];
      throw new UsageError(`option "--${option}" cannot be "${value}"`, [{ text: "a number above 0" }]);
    }),
  );
}
