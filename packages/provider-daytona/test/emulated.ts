import { type DaytonaEmulator, type DaytonaOptions as EmulatorOptions, startDaytona } from "@sandkit/cloud-emulator";
import type { Provider } from "@sandkit/core";
import { local } from "@sandkit/provider-local";
import { type DaytonaNative, type DaytonaOptions, daytona } from "../src/index.js";

/** An emulated Daytona and our provider for it. */
export interface Emulated extends AsyncDisposable {
  readonly cloud: DaytonaEmulator;
  readonly provider: Provider<DaytonaNative>;
}

/** Over processes of this machine, unless told otherwise. They have the network of the machine, whatever is wished. */
export async function emulated(options: Partial<EmulatorOptions> = {}, own: DaytonaOptions = {}): Promise<Emulated> {
  const cloud = await startDaytona({ provider: local(), network: "record", ...options });
  const provider = daytonaAt(cloud, own);
  return {
    cloud,
    provider,
    async [Symbol.asyncDispose]() {
      await provider.close?.();
      await cloud.close();
    },
  };
}

/** Our provider, as another program has it. */
export function daytonaAt({ url, apiKey }: DaytonaEmulator, own: DaytonaOptions = {}): Provider<DaytonaNative> {
  return daytona({ apiKey, apiUrl: url, target: "us", ...own });
}
