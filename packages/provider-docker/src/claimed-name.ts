import { z } from "@sandkit/core";
import type { SandboxRecord } from "./labels.js";
import { parsedJson } from "./parsed-json.js";

/** A name that is longer is hard to read in every listing; engines themselves take more. */
const mostCharacters = 4_000;

const said = z.object({
  createdAt: z.number(),
  workdir: z.string(),
  name: z.optional(z.string()),
  template: z.optional(z.string()),
  packages: z.optional(z.array(z.string())),
  labels: z.record(z.string(), z.string()),
});

/**
 * The name of a container that was there before its sandbox. Labels are fixed at birth, and a name can be changed: so
 * what else stands in labels stands in it. Undefined when it would be too long.
 */
export function claimedName({ id, createdAt, ...record }: SandboxRecord): string | undefined {
  const content = JSON.stringify(said.parse({ ...record, createdAt: createdAt.getTime() }));
  const full = `sandkit-${id}.${Buffer.from(content).toString("base64url")}`;
  return full.length > mostCharacters ? undefined : full;
}

/** The sandbox that has claimed the container of this name; undefined when none has. */
export function recordInName(name: string, owner: string): SandboxRecord | undefined {
  const [, id, encoded] = /^\/?sandkit-([\w-]+)\.([\w-]+)$/.exec(name) ?? [];
  if (id === undefined || encoded === undefined) return undefined;
  const { data } = said.safeParse(parsedJson(Buffer.from(encoded, "base64url").toString()));
  return data && { id, owner, ...data, createdAt: new Date(data.createdAt), detached: false };
}
