import { type E2BEmulator, type E2BOptions as EmulatorOptions, startE2B } from "@sandkit/cloud-emulator";
import type { Provider } from "@sandkit/core";
import { local } from "@sandkit/provider-local";
import { type E2BNative, type E2BOptions, e2b } from "../src/index.js";

/** An emulated E2B, and the provider set up for it. */
export interface Cloud extends AsyncDisposable {
  readonly emulator: E2BEmulator;
  readonly provider: Provider<E2BNative>;
  /** Another one, as another program would have it. */
  other(options?: E2BOptions): Provider<E2BNative>;
}

/** Over plain processes, which cannot be kept from the network: what is wished of it is recorded. */
export async function startCloud(emulated: Partial<EmulatorOptions> = {}, options: E2BOptions = {}): Promise<Cloud> {
  const emulator = await startE2B({ provider: local(), network: "record", ...emulated });
  const { apiKey, url } = emulator;
  // Both users of E2B are the one user of an emulated machine, whatever that is called there.
  const other = (more: E2BOptions = {}) =>
    e2b({ apiKey, apiUrl: url, sandboxUrl: url, user: "root", ...options, ...more });
  return { emulator, provider: other(), other, [Symbol.asyncDispose]: () => emulator.close() };
}
