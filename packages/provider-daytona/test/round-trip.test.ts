import { it } from "vitest";
import { roundTrip } from "../../cloud-emulator/test/round-trip.js";
import { emulated } from "./emulated.js";

it("a sandbox is made, used, stopped, found, started and ended", { timeout: 60_000 }, async () => {
  await using cloud = await emulated();
  await roundTrip(cloud);
});
