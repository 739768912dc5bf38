import { type CheckResult, SandboxError } from "@sandkit/core";
import { isolationOf } from "./capabilities.js";
import type { EngineConnector } from "./engine/connector.js";
import { NoEngine } from "./engine/find-engine.js";
import { engineFaults } from "./engine/require-engine.js";
import { tellEngine } from "./engine/tell-engine.js";
import { messageOf } from "./errors.js";
import type { DockerOptions } from "./options.js";

/** Whether there is an engine that can be used from here, and what it is. Never throws. */
export async function checkEngine(connector: EngineConnector, options: DockerOptions): Promise<CheckResult> {
  try {
    const found = await connector.find();
    const { client } = found;
    const engineFacts = await client.facts();
    const { product, version, api } = client.identity;
    const engine = `${product} ${version} at ${client.place} (API ${api})`;
    const facts = tellEngine(found, engineFacts, options.runtime);
    const faults = engineFaults(engineFacts, options.runtime);
    if (faults.length > 0) {
      const detail = `${engine}: ${faults.map(({ what }) => what).join("; ")}`;
      return { ok: false, detail, facts, fix: faults.flatMap(({ fix }) => fix) };
    }
    return { ok: true, detail: `${engine}; isolation: ${isolationOf(options.runtime)}`, facts };
  } catch (error) {
    if (error instanceof NoEngine) {
      const facts = Object.fromEntries(
        error.tried.map(({ source, url, why }) => [source, url ? `${url}: ${why}` : why]),
      );
      return { ok: false, detail: "no container engine answers", facts, fix: error.fix };
    }
    const fix = error instanceof SandboxError && error.code === "INVALID" ? ["correct it, or unset it"] : [];
    return { ok: false, detail: messageOf(error), fix };
  }
}
