import { strict as assert } from "node:assert";
import { createServer as createWebServer } from "node:http";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import type { Contact } from "../../network/contact.js";
import { eventually, rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** Listens on this machine while `use` runs, and tells how many connections came. */
async function listening(use: (port: number) => Promise<void>): Promise<number> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no port");
  try {
    await use(address.port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  return connections;
}

/** Answers HTTP on this machine while `use` runs: with what is asked for, or sending elsewhere. */
async function answering(use: (port: number) => Promise<void>): Promise<string[]> {
  const asked: string[] = [];
  const server = createWebServer((request, response) => {
    asked.push(request.url ?? "");
    const target = new URL(request.url ?? "/", "http://here").searchParams.get("to");
    if (target === null) response.end("hello");
    else response.writeHead(302, { location: target }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  try {
    await use(address.port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return asked;
}

/** An address of this machine that is not also one of the sandbox itself, where there is one. */
function outerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}

/** Addresses of this machine, as a sandbox may see it. */
function hostAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

/** What a sandbox can reach. */
export const networkCases: readonly ConformanceCase[] = [
  {
    id: "network.none",
    title: "by default a sandbox reaches nothing, this machine included",
    needs: ["network.none", "exec.argv"],
    programs: ["connect"],
    async run({ shared, program }) {
      const connections = await listening(async (port) => {
        for (const address of hostAddresses()) {
          const result = await shared.exec(program("connect", address, String(port)), { timeoutMs: 20_000 });
          assert.ok(result.stdout.text.startsWith("refused"), `${address}: ${result.stdout.text}${result.stderr.text}`);
        }
      });
      assert.equal(connections, 0);
    },
  },
  {
    id: "network.allowlist",
    title: "with a list of hosts a sandbox reaches these by HTTP and no other, also not by a redirect",
    needs: ["network.allowlist", "exec.argv"],
    programs: ["fetch"],
    async run({ sandbox, program }) {
      const address = outerAddress();
      const asked = await answering(async (port) => {
        const other = await answering(async (otherPort) => {
          const own = await sandbox({ network: { allow: [`${address}:${port}`] } });
          const fetched = async (url: string) => {
            const { stdout } = await own.exec(program("fetch", url), { timeoutMs: 20_000 });
            return stdout.text;
          };
          const [listed, unlisted] = [`http://${address}:${port}`, `http://${address}:${otherPort}`];
          assert.equal(await fetched(`${listed}/page`), "200 hello");
          assert.ok((await fetched(unlisted)).startsWith("refused"), "a host that is not listed answered");
          const redirected = await fetched(`${listed}/?to=${encodeURIComponent(unlisted)}`);
          assert.ok(redirected.startsWith("refused"), `a redirect led to a host that is not listed: ${redirected}`);
        });
        assert.deepEqual(other, [], "a host that is not listed was asked");
      });
      assert.ok(asked.includes("/page"));
    },
  },
  {
    id: "network.allowlist.malformed",
    title: "a list with what is no host is INVALID by the entry's name, and nothing is created",
    needs: ["network.allowlist"],
    async run({ sandbox, created }) {
      for (const entry of ["https://example.com", "example.com/path", "a*b.example.com"]) {
        await rejects(sandbox({ network: { allow: ["example.com", entry] } }), "INVALID", entry);
      }
      assert.equal(created(), 0, "a sandbox was created");
    },
  },
  {
    id: "network.packages",
    title: "with the package indexes alone a sandbox reaches these and no other, and each contact is reported",
    needs: ["network.allowlist", "network.contacts", "exec.argv"],
    programs: ["fetch"],
    async run({ sandbox, program }) {
      const address = outerAddress();
      const contacts: Contact[] = [];
      await answering(async (port) => {
        const other = await answering(async (otherPort) => {
          const index = `http://${address}:${port}/simple/`;
          const own = await sandbox({ network: "packages", env: { PIP_INDEX_URL: index } });
          own.onContact((contact) => contacts.push(contact));
          const fetched = async (url: string) => (await own.exec(program("fetch", url))).stdout.text;
          assert.equal(await fetched(index), "200 hello");
          assert.ok((await fetched(`http://${address}:${otherPort}`)).startsWith("refused"), "another host answered");
          assert.ok((await own.describe()).includes(`${address}:${port}`), "the description does not name the index");
          await eventually("both contacts reported", () => contacts.length === 2);
          const told = contacts.map(({ host, port: asked, decision }) => ({ host, port: asked, decision }));
          assert.deepEqual(told, [
            { host: address, port, decision: "allowed" },
            { host: address, port: otherPort, decision: "refused" },
          ]);
          assert.ok((contacts[0]?.bytesIn ?? 0) > 0, "no byte was counted");
        });
        assert.deepEqual(other, [], "a host that is no index was asked");
      });
    },
  },
  {
    id: "network.full",
    title: "with the whole network a sandbox reaches this machine, except where what it reaches is looked at",
    needs: ["network.full", "exec.argv"],
    programs: ["connect", "fetch"],
    async run({ sandbox, program }) {
      const own = await sandbox({ network: "full" });
      const isRaw = own.capabilities.features["network.full"] === "native";
      const connections = await listening(async (port) => {
        for (const address of hostAddresses()) {
          await own.exec(program("connect", address, String(port)));
          const fetched = await own.exec(program("fetch", `http://${address}:${port}`), { timeoutMs: 20_000 });
          assert.ok(fetched.stdout.text.startsWith("refused"), `${address} answered: ${fetched.stdout.text}`);
        }
      });
      if (isRaw) assert.ok(connections > 0, "no connection arrived");
      else assert.equal(connections, 0, "a sandbox reached what is not public");
    },
  },
  {
    id: "network.ports",
    title: "a server in the sandbox is reached through its port",
    needs: ["ports", "exec.argv", "process.background"],
    programs: ["serve"],
    async run({ sandbox, program }) {
      const own = await sandbox({ ports: [8123] });
      await rejects(own.port(8123, { waitMs: 100 }), "UNAVAILABLE");
      const server = await own.spawn(program("serve", "8123", "hello from inside"));
      const { url, headers } = await own.port(8123, { waitMs: 10_000 });
      const response = await fetch(url, { headers: { ...headers } });
      assert.equal(await response.text(), "hello from inside");
      await server.kill();
    },
  },
];
