// Makes a container by one of the two ways, says which, and waits to be killed.
import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { containerOf } from "../bench-engine.mjs";
import { startRival } from "../rival.mjs";

const [who = "", image = "", run = ""] = process.argv.slice(2);
if (who === "rival") {
  const { container } = await startRival(image);
  console.log(container.id);
} else {
  const sandbox = await createSandbox(docker({ images: { python: image } }), { labels: { bench: run } });
  await sandbox.spawn("setsid sleep 600 & sleep 600");
  console.log(await containerOf(sandbox));
}
setInterval(() => undefined, 60_000);
