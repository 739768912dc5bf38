import type { CreateOptions, Provider } from "@sandkit/core";
import type { Clock } from "./clock.js";
import type { FaultRule } from "./faults.js";

/** What both emulated clouds are set up with. */
export interface CloudOptions {
  /**
   * Where the machines are made. It needs `python3` in its boxes, or that they are containers: programs are started by
   * the engine in those without, and there is neither a way to their ports nor notice of changes. E2B needs `bash`.
   */
  readonly provider: Provider;
  /**
   * Options of the provider for every machine, and on top of them those of its template (E2B) or snapshot or image
   * (Daytona) by that name. A name that is not here is refused as unknown, except the vendor's own defaults.
   */
  readonly machine?: CreateOptions | undefined;
  readonly templates?: Readonly<Record<string, CreateOptions>> | undefined;
  /**
   * What happens to a wish for a network that the provider cannot enforce, such as "none" on plain processes of the
   * host: `refuse` (the default) answers with an error, `record` only keeps it.
   */
  readonly network?: "refuse" | "record" | undefined;
  /**
   * Keys that are accepted, looked at with each request: one that is taken out has expired. Default: one made up, which
   * the emulator tells as `apiKey`.
   */
  readonly apiKeys?: readonly string[] | undefined;
  /** Most machines at one time; default: no limit. */
  readonly quota?: number | undefined;
  /** Default: one of its own. */
  readonly clock?: Clock | undefined;
  readonly faults?: readonly FaultRule[] | undefined;
  /** Where it listens; default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
}
