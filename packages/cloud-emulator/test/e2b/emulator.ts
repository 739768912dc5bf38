import { local } from "@sandkit/provider-local";
import { E2B } from "e2b";
import { type E2BEmulator, type E2BOptions, startE2B } from "../../src/index.js";

/** An emulator over plain processes, and the real SDK set up for it. */
export interface Cloud extends AsyncDisposable {
  readonly emulator: E2BEmulator;
  readonly client: E2B;
}

/** Plain processes cannot be kept from the network: what is wished of it is recorded. */
export async function startCloud(options: Partial<E2BOptions> = {}): Promise<Cloud> {
  const emulator = await startE2B({ provider: local(), network: "record", ...options });
  const client = new E2B({ apiKey: emulator.apiKey, apiUrl: emulator.url, sandboxUrl: emulator.url });
  return { emulator, client, [Symbol.asyncDispose]: () => emulator.close() };
}
