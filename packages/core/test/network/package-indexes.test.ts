import { expect, it } from "vitest";
import { egressPolicyOf } from "../../src/network/package-indexes.js";

const python = ["pypi.org", "files.pythonhosted.org"];
const node = ["registry.npmjs.org"];

it("a policy is what its proxy allows, or no proxy where that is nothing", () => {
  expect(egressPolicyOf("none")).toBeUndefined();
  expect(egressPolicyOf({ allow: [] })).toBeUndefined();
  expect(egressPolicyOf({ allow: ["example.com"] }, { indexes: ["https://mirror"] })).toEqual({
    allow: ["example.com"],
  });
  expect(egressPolicyOf("full", { indexes: ["mirror:81"] })).toEqual({ allow: "public", inner: ["mirror:81"] });
});

it("package indexes are the public ones, or the provider's own wherever they lie", () => {
  expect(egressPolicyOf("packages")).toEqual({ allow: [...python, ...node], inner: [] });
  const indexes = ["https://user:secret@mirror.example:8443/simple/", "http://127.0.0.1:5000", "nexus.example"];
  expect(egressPolicyOf("packages", { indexes })).toEqual({
    allow: [],
    inner: ["mirror.example:8443", "127.0.0.1:5000", "nexus.example"],
  });
});

it("package indexes of the environment are allowed where they are public, in the place of those of their language", () => {
  const allowed = (env: Record<string, string>) => egressPolicyOf("packages", { env })?.allow;
  expect(allowed({ PIP_INDEX_URL: "https://mirror.example/simple" })).toEqual(["mirror.example", ...node]);
  expect(allowed({ PIP_EXTRA_INDEX_URL: "https://a.example/x  http://b.example:81" })).toEqual([
    ...[...python, "a.example", "b.example:81"],
    ...node,
  ]);
  expect(allowed({ npm_config_registry: "http://npm.example" })).toEqual([...python, "npm.example"]);
  expect(allowed({ UV_INDEX: "own=https://uv.example/simple" })).toEqual([...python, "uv.example", ...node]);
  for (const url of [
    "http://127.0.0.1:80",
    "http://169.254.169.254/",
    "http://localhost",
    "http://[::1]",
    "file:///etc",
  ]) {
    expect(allowed({ PIP_EXTRA_INDEX_URL: url, NPM_CONFIG_REGISTRY: url })).toEqual(
      url.startsWith("file") ? [...python, ...node] : python,
    );
  }
});
