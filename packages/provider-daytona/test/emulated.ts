import { type DaytonaEmulator, type DaytonaOptions as EmulatorOptions, startDaytona } from "@sandkit/cloud-emulator";
import type { Provider } from "@sandkit/core";
import { local } from "@sandkit/provider-local";
import { type DaytonaNative, type DaytonaOptions, daytona } from "../src/index.js";

/** An emulated Daytona and our provider for it. */
export interface Emulated extends AsyncDisposable {
  readonly emulator: DaytonaEmulator;
  readonly provider: Provider<DaytonaNative>;
  /** Another one, as another program has it. */
  other(): Provider<DaytonaNative>;
}

/** Over processes of this machine, unless told otherwise. They have the network of the machine, whatever is wished. */
export async function emulated(options: Partial<EmulatorOptions> = {}, own: DaytonaOptions = {}): Promise<Emulated> {
  const emulator = await startDaytona({ provider: local(), network: "record", ...options });
  const { url, apiKey } = emulator;
  const programs: Provider<DaytonaNative>[] = [];
  const other = () => {
    const provider = daytona({ apiKey, apiUrl: url, target: "us", ...own });
    programs.push(provider);
    return provider;
  };
  return {
    emulator,
    provider: other(),
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all(programs.map((provider) => provider.close?.()));
      await emulator.close();
    },
  };
}
