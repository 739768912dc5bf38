import { Daytona } from "@daytonaio/sdk";
import { docker } from "@sandkit/provider-docker";
import { describe } from "vitest";
import { busyboxImage, describeOnEngine } from "../../cloud-emulator/test/engine.js";
import { destroyedWhileWoken, goneWhilePaused } from "../../cloud-emulator/test/gone-while-paused.js";
import { type Emulated, emulated } from "./emulated.js";

function vendor({ emulator }: Emulated): Daytona {
  return new Daytona({ apiKey: emulator.apiKey, apiUrl: emulator.url, target: "us", useDeprecatedPolling: true });
}

const ways = {
  endByVendor: async (cloud: Emulated, id: string) => (await vendor(cloud).get(id)).delete(),
  pauseByVendor: async (cloud: Emulated, id: string) => (await vendor(cloud).get(id)).stop(),
  wake: { method: "POST", path: /\/start$/ },
  remove: { method: "DELETE", path: /^\/api\/sandbox/ },
} as const;

describe("a stopped sandbox that ends", () => {
  goneWhilePaused({ ...ways, start: () => emulated() });
  destroyedWhileWoken({ ...ways, start: () => emulated() });
});

describeOnEngine("a stopped sandbox in plain mode that ends", () => {
  goneWhilePaused({ ...ways, start: () => emulated({ provider: docker(), machine: { image: busyboxImage } }) });
});
