import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { attachSandbox, createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { expect, it } from "vitest";
import { configSchema } from "../src/config.js";
import { grantSandbox, refOfHandle } from "../src/grant.js";
import { type HttpServer, serveHttp } from "../src/http/listen.js";
import { recordOf, textOf } from "./support/connect.js";

const secret = "a secret of all replicas";
const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";
const options = { images: { python: image }, pull: "never" } as const;
const provider = docker(options);

async function engineAnswers(): Promise<boolean> {
  const { ok, detail } = await provider.check();
  if (!ok && process.env.CI) throw new Error(`CI has no container engine: ${detail}`);
  if (!ok) console.warn(`SKIPPED: replicas are not tested: ${detail}`);
  return ok;
}

/** One server of several, and a client of each user. */
class Replica implements AsyncDisposable {
  readonly #server: HttpServer;
  readonly #clients = new Map<string, Client>();

  private constructor(server: HttpServer) {
    this.#server = server;
  }

  static async start(replica: string): Promise<Replica> {
    const config = configSchema.parse({ provider: "docker", options, detached: true, replica, maxSandboxes: 2 });
    return new Replica(await serveHttp({ config, secret, token: ["alice:a", "bob:b"] }));
  }

  async call(user: "a" | "b", name: string, input: Record<string, unknown> = {}) {
    const client = this.#clients.get(user) ?? new Client({ name: "test", version: "1" });
    if (!this.#clients.has(user)) {
      const requestInit = { headers: { Authorization: `Bearer ${user}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(this.#server.url), { requestInit }));
      this.#clients.set(user, client);
    }
    return (await client.callTool({ name, arguments: input })) as CallToolResult;
  }

  async say(user: "a" | "b", name: string, input: Record<string, unknown> = {}): Promise<string> {
    return textOf(await this.call(user, name, input));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
    await this.#server.close();
  }
}

it.skipIf(!(await engineAnswers()))(
  "share sandboxes, with each other, after a restart, and with programs",
  { timeout: 120_000 },
  async () => {
    let one = await Replica.start("one");
    await using two = await Replica.start("two");
    const program = await createSandbox(provider, { lifetime: { detached: true } });
    try {
      const made = await one.call("a", "create_sandbox");
      const id = (made.structuredContent as { sandbox_id: string }).sandbox_id;
      const at = { sandbox_id: id };
      expect((made.structuredContent as { ref: unknown }).ref).toEqual(refOfHandle(id, "docker"));
      await one.call("a", "write_file", { path: "file", content: "of one", ...at });
      expect(await one.say("a", "run_code", { code: "x = 41; x + 1", ...at })).toContain("42");
      const going = recordOf(await one.call("a", "exec", { command: "sleep 30", wait_s: 0, ...at })).process;
      expect(going).toMatch(/^p-one-/);

      // The other serves exec, files and lists; what lives in the first it says where to find.
      expect(await two.say("a", "exec", { command: "cat file; echo; echo two > other", ...at })).toContain("of one");
      expect(await one.say("a", "read_file", { path: "other", ...at })).toContain("two");
      expect(await two.say("a", "list_sandboxes")).toContain(id);
      expect(await two.say("a", "run_code", { code: "x", ...at })).toMatch(
        /^UNAVAILABLE: .* belong to the server "one", and this is "two"/,
      );
      expect(await two.say("a", "process", { process: going })).toMatch(/^UNAVAILABLE: .* belongs to the server "one"/);

      // To another user it is as unknown as one that never was.
      const foreign = await two.say("b", "exec", { command: "true", ...at });
      expect(foreign).toMatch(/^NOT_FOUND: there is no sandbox/);
      expect(await two.say("b", "destroy_sandbox", at)).toBe(foreign);
      expect(await two.say("b", "list_sandboxes")).toBe(
        "No sandbox is alive. One is made by the first call that needs it.",
      );

      // The cap counts what every replica made.
      const second = (await two.call("a", "create_sandbox")).structuredContent as { sandbox_id: string };
      expect(await one.say("a", "create_sandbox")).toMatch(/^QUOTA: all 2 sandboxes.*maxSandboxes/);
      await two.call("a", "destroy_sandbox", { sandbox_id: second.sandbox_id });
      const at2 = { command: "true", sandbox_id: second.sandbox_id };
      expect(await one.say("a", "exec", at2)).toMatch(
        /^EXPIRED: .*was not used for 1800 s, was destroyed, or its host was restarted.*create_sandbox/,
      );
      expect(await two.say("a", "exec", at2)).toMatch(/^EXPIRED: .* is gone \(it was destroyed\)/);

      // A program's sandbox by its ref, and a server's in a program.
      const granted = { sandbox_id: grantSandbox(program.ref, { principal: "alice", secret }) };
      await program.files.write("mine", "of the program");
      expect(await two.say("a", "exec", { command: "cat mine", ...granted })).toContain("of the program");
      expect(await two.say("b", "exec", { command: "cat mine", ...granted })).toMatch(/^NOT_FOUND/);
      const attached = await attachSandbox(provider, refOfHandle(id, "docker"));
      expect(await attached.files.readText("file")).toBe("of one");

      // After a restart under the same name it goes on, and says what is lost.
      await one[Symbol.asyncDispose]();
      one = await Replica.start("one");
      const later = await one.say("a", "run_code", { code: "print(open('file').read()); x", ...at });
      expect(later).toMatch(
        /^Note: the server was restarted. Variables of before are lost; files are kept.\nRaised NameError/,
      );
      expect(later).toContain("of one");
      expect(await one.say("a", "process", { process: going })).toMatch(/^NOT_FOUND/);
      expect(await two.say("a", "destroy_sandbox", at)).toBe(`Sandbox ${id} is destroyed.`);
      expect(await one.say("a", "exec", { command: "true", ...at })).toMatch(/^(EXPIRED|SANDBOX_LOST)/);
      expect(await one.say("a", "exec", { command: "true", ...at })).toMatch(/^EXPIRED/);
      expect(await program.files.readText("mine")).toBe("of the program");
    } finally {
      await one[Symbol.asyncDispose]();
      await program.destroy();
      for await (const { ref } of provider.list({ labels: { "mcp-replica": "one" } }))
        await (await provider.attach(ref))?.destroy();
    }
  },
);
