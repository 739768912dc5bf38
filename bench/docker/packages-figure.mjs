import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { median } from "../statistics.mjs";
import { engine } from "./bench-engine.mjs";
import { packageSets, startIndex } from "./package-index.mjs";
import { settle } from "./settle.mjs";

/** @typedef {import("./measure-docker.mjs").Places} Places */

/**
 * From nothing to the first output of a first command, with packages that the engine has already: against a sandbox
 * without any, as raw.
 * @param {Places} places
 * @param {number} rounds
 */
export async function packagesFigure({ image, labels }, rounds) {
  const before = await packageSets();
  const index = await startIndex();
  try {
    const provider = docker({ images: { python: image }, packages: { indexUrl: index.url } });
    /** @type {Record<"plain" | "packages", number[]>} */
    const times = { plain: [], packages: [] };
    for (let round = -1; round < rounds; round++) {
      for (const kind of /** @type {const} */ (["plain", "packages"])) {
        const packages = kind === "packages" ? [index.package] : [];
        const start = performance.now();
        const sandbox = await createSandbox(provider, { labels, packages });
        await sandbox.exec(["echo", "ready"]);
        if (round >= 0) times[kind].push(performance.now() - start);
        await sandbox.destroy();
        await settle("container");
      }
    }
    return {
      id: "start.packages",
      what: "the same with packages, installed before; raw: ours without",
      unit: /** @type {const} */ ("ms"),
      raw: median(times.plain),
      sandkit: median(times.packages),
      maxRatio: 1.2,
    };
  } finally {
    index.close();
    const made = (await packageSets()).filter((id) => !before.includes(id));
    for (const id of made) await engine.getImage(id).remove({ force: true });
  }
}
