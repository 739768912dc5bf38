import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { docker } from "@sandkit/provider-docker";
import { expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { localPrincipal } from "../src/principal.js";
import { connect } from "./support/connect.js";

const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const options = { images: { python: image }, pull: "never" } as const;

async function engineAnswers(): Promise<boolean> {
  const { ok, detail } = await docker(options).check();
  if (!ok && process.env.CI) throw new Error(`CI has no container engine: ${detail}`);
  if (!ok) console.warn(`SKIPPED: contacts in the audit log are not tested: ${detail}`);
  return ok;
}

it.skipIf(!(await engineAnswers()))("the audit log has each host that a sandbox has contacted", async () => {
  const site = createServer((_, response) => response.end("a page")).listen(0, "0.0.0.0");
  const folder = await mkdtemp(join(tmpdir(), "sandkit-mcp-"));
  const log = join(folder, "audit.jsonl");
  const host = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  const bound = site.address();
  const port = typeof bound === "object" ? bound?.port : undefined;
  const config = configSchema.parse({
    provider: "docker",
    options,
    audit: { to: log },
    defaults: { network: { allow: [`${host}:${port}`] } },
  });
  const load = async () => ({ config, path: undefined });
  try {
    await using server = await connect({ folder, path: "", load, [Symbol.asyncDispose]: async () => undefined });
    const fetch = (url: string) =>
      `import urllib.request as r\ntry: print(r.urlopen("${url}").read())\nexcept OSError: pass`;
    await server.call("run_code", { code: fetch(`http://${host}:${port}/secret?path`) });
    await server.call("run_code", { code: fetch("http://169.254.169.254/latest/meta-data/") });
    await expect.poll(async () => (await readFile(log, "utf8")).split('"contact"').length, { timeout: 10_000 }).toBe(3);
    const entries = (await readFile(log, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { principal, sandbox } = entries.find(({ event }) => event === "call") ?? {};
    const contacts = entries.filter(({ event }) => event === "contact");
    expect(principal).toBe(localPrincipal("test").id);
    expect(contacts).toMatchObject([
      { principal, sandbox, host, port, protocol: "http", decision: "allowed" },
      { principal, sandbox, host: "169.254.169.254", port: 80, decision: "refused" },
    ]);
    expect(JSON.stringify(contacts)).not.toContain("secret");
  } finally {
    site.close();
    await rm(folder, { recursive: true });
  }
});
