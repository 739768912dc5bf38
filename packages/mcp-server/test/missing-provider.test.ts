import { once } from "node:events";
import { expect, it } from "vitest";
import { installCommand, MissingProviderError } from "../src/missing-provider.js";
import { RawServer } from "./support/spawn-server.js";

it.each([
  ["/home/me/app", "npm install --prefix /home/me/app @sandkit/provider-docker"],
  ["/home/me/two words", 'npm install --prefix "/home/me/two words" @sandkit/provider-docker'],
  ["/usr/local/lib", "npm install --global @sandkit/provider-docker"],
  ["C:\\Users\\me\\AppData\\Roaming\\npm", "npm install --global @sandkit/provider-docker"],
  ["/home/me/.npm/_npx/0123", "npx --package=sandkit --package=@sandkit/provider-docker -- sandkit …"],
])("installed in %s, a provider gets beside it by: %s", (root, command) => {
  expect(installCommand("@sandkit/provider-docker", `${root}/node_modules/@sandkit/mcp-server/dist/x.js`)).toBe(
    command,
  );
});

it("in a clone a package is installed in the clone", () => {
  expect(installCommand("other", "/src/sandkit/packages/mcp-server/dist/x.js")).toBe("npm install other");
});

it("nobody is told to install a package of a mistyped name", () => {
  const { message } = new MissingProviderError("dcoker", "dcoker", undefined);
  expect(message).toContain('provider "dcoker" is not installed: correct its name');
  expect(message).not.toContain("npm");
  expect(new MissingProviderError("e2b", "@sandkit/provider-e2b", undefined).message).toContain("npm install");
});

it("whoever starts a server over HTTP hears of it before anybody calls", async () => {
  await using server = new RawServer(["http", "--port", "0", "--provider", "@sandkit/provider-nowhere"]);
  while (!server.stderr.includes('"the provider cannot be loaded"')) await once(server.child.stderr, "data");
  expect(server.stderr).toContain("npm install");
});
