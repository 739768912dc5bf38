import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { attachSandbox, type Contact, createSandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

/** An address of this machine that a container has not itself. */
const address = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

/** A web server of this machine: a page, a download that does not end, and an index of one package. */
async function startSite() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/endless") {
      const more = () => {
        while (response.write(Buffer.alloc(65_536)));
        response.once("drain", more);
      };
      more();
    } else if (request.url === "/simple/demo/") response.end('<a href="../../demo-1.0.tar.gz">demo-1.0.tar.gz</a>');
    else response.end("a page");
  }).listen(0, "0.0.0.0");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  return { server, asked, host: `${address}:${bound.port}` };
}

const patient = { timeout: 10_000 };
const fetchPage = (url: string) => `import urllib.request; print(urllib.request.urlopen("${url}").read().decode())`;

describeOnEngine("a port of a container", () => {
  it("keeps a program alive while that waits for it, and for nothing else", async () => {
    const program = fileURLToPath(new URL("waits.mjs", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program, testImages.python]);
    expect(stdout).toBe("UNAVAILABLE");
  });
});

describeOnEngine("a program of a container without a terminal", () => {
  it("is not resized, and says how it would have one", async () => {
    await using sandbox = await createSandbox(docker({ images: testImages }));
    const program = await sandbox.spawn("sleep 60");
    const message = "resize: the program has no terminal: start it with pty: { columns, rows }, each at least 1";
    await expect(program.resize({ columns: 80, rows: 24 })).rejects.toMatchObject({ code: "INVALID", message });
    await program.kill("SIGKILL");
  });
});

describeOnEngine("the network of a container", () => {
  it("serves cells and commands, beside a download that nobody reads, and reports it", async () => {
    const { server, host } = await startSite();
    const contacts: Contact[] = [];
    await using sandbox = await createSandbox(docker({ images: testImages }), { network: { allow: [host] } });
    try {
      sandbox.onContact((contact) => contacts.push(contact));
      const stalled = await sandbox.spawn([
        "python3",
        "-c",
        `import time, urllib.request\npage = urllib.request.urlopen("http://${host}/endless")\ntime.sleep(600)`,
      ]);
      const cell = await sandbox.runCode(fetchPage(`http://${host}/`));
      expect(cell.stdout.text).toBe("a page\n");
      expect((await sandbox.exec("echo still here")).stdout.text).toBe("still here\n");
      await stalled.kill("SIGKILL");
      await expect.poll(() => contacts.length, patient).toBe(2);
      expect(contacts.map(({ decision }) => decision)).toEqual(["allowed", "allowed"]);
      // No more than what the way holds: nobody buffers a download without end.
      expect(contacts[1]?.bytesIn).toBeLessThan(32 * 1024 * 1024);
      // Nothing but the agent's way leads out.
      const raw = await sandbox.exec(["python3", "-c", `import socket; socket.create_connection(("${address}", 80))`]);
      expect(raw.stderr.text).toContain("Network is unreachable");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("is what the provider's own package indexes are, for pip and for who attaches", async () => {
    const { server, asked, host } = await startSite();
    const provider = docker({ images: testImages, packageHosts: [host], leaseMs: 10_000 });
    const sandbox = await createSandbox(provider, {
      network: "packages",
      lifetime: { detached: true },
      env: { PIP_INDEX_URL: `http://${host}/simple/`, PIP_TRUSTED_HOST: address ?? "" },
    });
    try {
      expect(await sandbox.describe()).toContain(`Network: ${host} and nothing else`);
      const other = await attachSandbox(docker({ images: testImages }), sandbox.ref);
      expect(await other.describe()).toContain(`Network: ${host} and nothing else`);
      await other.exec("pip download --no-deps --retries 0 demo");
      expect(asked).toContain("/simple/demo/");
      const refused = await other.exec(["python3", "-c", fetchPage("https://example.com/")]);
      expect(refused.stderr.text).toContain("example.com is not in this sandbox's allow-list");
    } finally {
      await sandbox.destroy();
      server.close();
    }
  });

  it("is refused by name where no agent can carry it", async () => {
    const provider = docker({ images: testImages });
    const bare = createSandbox(provider, { image: testImages.bare, network: "full" });
    await expect(bare).rejects.toMatchObject({ code: "UNSUPPORTED", message: expect.stringContaining('"network"') });
    const entry = createSandbox(docker({ packageHosts: ["a b"] }), { network: "packages" });
    await expect(entry).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining('"a b"') });
  });
});
