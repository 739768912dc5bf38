// An emulated cloud in a process of its own, so that its work is nobody's: emulator.mjs e2b|daytona IMAGE
// Started with an IPC channel, on which it tells where it is; ends with it.
import { startDaytona, startE2B } from "@sandkit/cloud-emulator";
import { docker } from "@sandkit/provider-docker";

const [cloud, image = ""] = process.argv.slice(2);
const provider = docker({ images: { python: image }, pull: "never" });
const start = cloud === "e2b" ? startE2B : startDaytona;
// What containers cannot be kept from is recorded.
const emulator = await start({ provider, network: "record" });
process.once("disconnect", async () => {
  await emulator.close();
  process.exit();
});
process.send?.({ url: emulator.url, apiKey: emulator.apiKey });
