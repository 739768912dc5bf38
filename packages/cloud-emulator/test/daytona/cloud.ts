import { Daytona } from "@daytonaio/sdk";
import { local } from "@sandkit/provider-local";
import { type DaytonaEmulator, type DaytonaOptions, startDaytona } from "../../src/index.js";

/** An emulated cloud and the vendor's own client of it. */
export interface Cloud extends AsyncDisposable {
  readonly emulator: DaytonaEmulator;
  readonly daytona: Daytona;
}

/** Starts an emulator over processes of this machine, unless told otherwise. */
export async function startCloud(options: Partial<DaytonaOptions> = {}): Promise<Cloud> {
  const emulator = await startDaytona({ provider: local(), ...options });
  const daytona = client(emulator);
  return {
    emulator,
    daytona,
    async [Symbol.asyncDispose]() {
      await daytona[Symbol.asyncDispose]();
      await emulator.close();
    },
  };
}

/** The vendor's client, told everything, so that it reads nothing from the environment. */
export function client({ url, apiKey }: DaytonaEmulator, key = apiKey): Daytona {
  return new Daytona({ apiKey: key, apiUrl: url, target: "us", useDeprecatedPolling: true });
}
