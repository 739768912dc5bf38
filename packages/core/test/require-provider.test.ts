import { expect, it } from "vitest";
import { balance } from "../src/balance/balance.js";
import { attachSandbox, createSandbox } from "../src/create-sandbox.js";
import type { Provider } from "../src/provider.js";

/** As it comes from JavaScript, or from a configuration. */
const given = (value: unknown) => value as Provider;
const docker = () => undefined;

it.each([
  [docker, "call it, such as docker()"],
  [undefined, "docker(), wasm()"],
  [null, "docker(), wasm()"],
  ["docker", "docker(), wasm()"],
  [{}, "docker(), wasm()"],
  [Promise.resolve(), "docker(), wasm()"],
])("%o in the place of a provider is refused, with what to give", async (value, next) => {
  const refused = { code: "INVALID", message: expect.stringContaining(next) };
  await expect(createSandbox(given(value))).rejects.toMatchObject(refused);
  await expect(attachSandbox(given(value), { provider: "docker", id: "1" })).rejects.toMatchObject(refused);
  expect(() => balance({ near: given(value) })).toThrow(expect.objectContaining(refused));
});
