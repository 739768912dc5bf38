import { createSandbox } from "@sandkit/core";
import { docker } from "./dist/index.js";

const p = docker({
  unsafeBridge: true,
  images: { python: "sandkit/python:test", node: "sandkit/node:test" },
  packages: { indexUrl: "http://172.17.0.1:5067/simple/", npmRegistry: "http://172.17.0.1:5066/" },
});
const med = (a) => a.sort((x, y) => x - y)[Math.floor(a.length / 2)];
for (const [template, packages] of [
  ["python", ["rich"]],
  ["node", ["tree", "leaf@2"]],
]) {
  const times = { plain: [], set: [] };
  for (let i = 0; i < 14; i++)
    for (const kind of i % 2 ? ["plain", "set"] : ["set", "plain"]) {
      const a = performance.now();
      const s = await createSandbox(p, { template, ...(kind === "set" && { packages }) });
      await s.exec(["true"]);
      const d = performance.now() - a;
      if (i > 1) times[kind].push(d);
      await s.destroy();
    }
  console.log(
    template,
    "plain",
    Math.round(med(times.plain)),
    "set",
    Math.round(med(times.set)),
    "min",
    Math.round(times.plain[0]),
    Math.round(times.set[0]),
    (med(times.set) / med(times.plain)).toFixed(2),
  );
}
