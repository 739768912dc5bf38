// An emulated E2B in a process of its own: the suite measures the memory of the one that it runs in.
//     emulator.mjs local | docker IMAGE | plain IMAGE
// An image of "docker" has Python; one of "plain" has a shell.
// Started with an IPC channel, on which it tells where it is; ends with it.
import { startE2B } from "@sandkit/cloud-emulator";
import { docker } from "@sandkit/provider-docker";
import { local } from "@sandkit/provider-local";

const [kind, image = ""] = process.argv.slice(2);
// What is not kept from the network is on the engine's bridge.
const images = kind === "docker" ? { python: image } : {};
const machines = kind === "local" ? local() : docker({ images, pull: "never", unsafeBridge: true });
// What the machines cannot be kept from is recorded.
const emulator = await startE2B({
  provider: machines,
  network: "record",
  machine: kind === "plain" ? { image } : {},
});
process.once("disconnect", async () => {
  await emulator.close();
  process.exit();
});
process.send?.({ url: emulator.url, apiKey: emulator.apiKey });
