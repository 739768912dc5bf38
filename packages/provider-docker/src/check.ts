import { type CheckResult, SandboxError } from "@sandkit/core";
import { isolationOf } from "./capabilities.js";
import type { EngineConnector } from "./engine/connector.js";
import { findElsewhere, remedies } from "./engine/find-engine.js";
import { engineFaults } from "./engine/require-engine.js";
import { tellEngine } from "./engine/tell-engine.js";
import { messageOf } from "./errors.js";
import type { DockerOptions } from "./options.js";

/** Whether there is an engine that can be used from here, and what it is. Never throws. */
export async function checkEngine(connector: EngineConnector, options: DockerOptions): Promise<CheckResult> {
  try {
    const search = await connector.search();
    const { client, tried } = search;
    if (!client) {
      const facts = tried.map(({ source, url, why }) => [source, url ? `${url}: ${why}` : why]);
      const detail = "no container engine answers";
      const known = tried.some(({ fix }) => fix !== undefined);
      // A second search that fails has nothing to add to the first.
      const elsewhere = known ? undefined : await findElsewhere(options).catch(() => undefined);
      const fix = [...(elsewhere === undefined ? [] : [elsewhere]), ...remedies(tried)];
      return { ok: false, detail, facts: Object.fromEntries(facts), fix };
    }
    const engineFacts = await client.facts();
    const { product, version, api } = client.identity;
    const engine = `${product} ${version} at ${client.place} (API ${api})`;
    const facts = tellEngine(search, client.identity, engineFacts, options.runtime);
    const faults = engineFaults(engineFacts, options.runtime);
    if (faults.length > 0) {
      const detail = `${engine}: ${faults.map(({ what }) => what).join("; ")}`;
      return { ok: false, detail, facts, fix: faults.flatMap(({ fix }) => fix) };
    }
    return { ok: true, detail: `${engine}; isolation: ${isolationOf(options.runtime)}`, facts };
  } catch (error) {
    const fix = error instanceof SandboxError && error.code === "INVALID" ? ["correct it, or unset it"] : [];
    return { ok: false, detail: messageOf(error), fix };
  }
}
