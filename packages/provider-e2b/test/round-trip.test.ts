import { it } from "vitest";
import { roundTrip } from "../../cloud-emulator/test/round-trip.js";
import { startCloud } from "./cloud.js";

it("a sandbox is made, used, paused, found, resumed and ended", { timeout: 60_000 }, async () => {
  await using cloud = await startCloud();
  await roundTrip(cloud);
});
