import type { CompiledAgents } from "../compiled-agents.js";
import type { EngineClient } from "../engine/client.js";
import { providerName } from "../errors.js";
import type { ImageFacts } from "../image-store.js";
import type { DockerOptions } from "../options.js";
import type { Indexes } from "./indexes.js";
import type { PackageSet } from "./package-set.js";

/** What an installation works with. */
export interface Installation {
  readonly engine: EngineClient;
  readonly base: ImageFacts;
  readonly set: PackageSet;
  readonly indexes: Indexes;
  readonly options: DockerOptions;
  readonly runtime?: string | undefined;
  readonly agents: CompiledAgents;
  readonly signal: AbortSignal;
  readonly onProgress: (message: string) => void;
}

/** What the errors of an installation are about. */
export const about = { provider: providerName, operation: "create" } as const;

/** How long an index may be silent, in seconds. */
export const silenceSeconds = 20;
