import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, engine, testImages } from "./engine.js";

const provider = docker({ images: testImages, pull: "never" });
const open: Sandbox[] = [];
const kept: string[] = [];

async function made(making: Promise<Sandbox>): Promise<Sandbox> {
  const sandbox = await making;
  open.push(sandbox);
  return sandbox;
}

afterAll(async () => {
  await Promise.all(open.map((one) => one.destroy()));
  for (const id of kept) await provider.removeSnapshot?.(id);
});

const fill = `
mkdir -p tree/inner && echo text > tree/inner/file && chmod 4711 tree/inner/file
touch -d '2001-02-03 04:05:06.789' tree/inner/file && ln tree/inner/file tree/hard && ln -s inner/file tree/link
mkfifo tree/pipe && truncate -s 300M tree/holes && chmod 500 tree/inner && touch -d 2002-01-01 tree/inner
: > "$(printf 'line\\nbreak \\303\\244 \\377')" && mkdir -p "$HOME/.local/bin" && echo note > "$HOME/note" && echo app > /app/a
printf '#!/bin/sh\\nexit 3\\n' > "$HOME/.local/bin/tar" && chmod 755 "$HOME/.local/bin/tar"
`.replaceAll("\\\\", "\\");
const look = "find . ! -type s -printf '%p %y %m %n %s %b %T+ %l\\n' | tail -n +2 | sort; cat $HOME/note /app/a";
const socket = "import socket; socket.socket(socket.AF_UNIX).bind('/tmp/socket')";

describeOnEngine("a snapshot of a container", () => {
  it("keeps what a file system has, whatever the guest did to the tools for it, and so does a fork", {
    timeout: 120_000,
  }, async () => {
    const one = await made(createSandbox(provider, { labels: { kind: "original" }, env: { KEPT: "yes" } }));
    (await one.exec(fill)).orThrow();
    (await one.exec(["python3", "-c", socket])).orThrow();
    const before = (await one.exec(look)).orThrow().stdout.text;
    expect(before).toContain("./tree/inner/file f 4711 2 5 8 2001-02-03+04:05:06.7890000000");
    const { skipped, ...snapshot } = await one.snapshot("all of it");
    kept.push(snapshot.id);
    expect(skipped).toEqual(["/tmp/socket"]);
    expect(snapshot).toMatchObject({ name: "all of it", sizeBytes: expect.any(Number) });
    expect(snapshot.sizeBytes).toBeLessThan(1 << 20);
    const other = await made(createSandbox(provider, { snapshot: snapshot.id }));
    expect((await other.exec(look)).stdout.text).toBe(before);
    // A snapshot of what came from one has not both.
    const again = await other.snapshot();
    kept.push(again.id);
    const layers = async (id: string) =>
      (await engine.getImage(`sandkit-snapshot:${id}`).inspect()).RootFS.Layers?.length;
    expect(await layers(again.id)).toBe(await layers(snapshot.id));
    const [fork] = await one.fork();
    if (!fork) throw new Error("there is no fork");
    open.push(fork);
    expect((await fork.exec(look)).stdout.text).toBe(before);
    expect((await fork.exec("echo $KEPT")).stdout.text).toBe("yes\n");
    expect(await fork.info()).toMatchObject({ template: "python", labels: { kind: "original" }, origin: "created" });
  });

  it("is refused where it does not fit: by id, image, workdir and space", { timeout: 120_000 }, async () => {
    const one = await made(createSandbox(provider, { image: testImages.bare }));
    await one.exec("head -c 30000000 /dev/urandom > large");
    const { id: snapshot } = await one.snapshot();
    kept.push(snapshot);
    const create = (options: object) => made(createSandbox(provider, { snapshot, ...options }));
    const refusals = [
      [{ snapshot: "python:3.12" }, "INVALID", "python:3.12"],
      [{ snapshot: "00000000-0000-4000-8000-000000000000" }, "NOT_FOUND", "take a new one"],
      [{ template: "python" }, "INVALID", "another image"],
      [{ workdir: "/elsewhere" }, "INVALID", "/workspace"],
      [{ resources: { memoryMiB: 96 } }, "NO_SPACE", "/workspace"],
    ] as const;
    for (const [options, code, words] of refusals) {
      await expect(create(options)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    }
    await expect(provider.removeSnapshot?.("python:3.12")).rejects.toMatchObject({
      code: "INVALID",
      operation: "removeSnapshot",
    });
    await one.exec("mkdir locked && chmod 000 locked");
    await expect(one.snapshot()).rejects.toMatchObject({ code: "PERMISSION" });
  });
});

describeOnEngine("unsafeRoot", () => {
  it("starts programs as other users and ends them, and snapshots what was written on the root", {
    timeout: 120_000,
  }, async () => {
    const root = docker({ images: testImages, pull: "never", unsafeRoot: true });
    const one = await made(createSandbox(root));
    const as = async (user: string, command = "id -u; id -g; echo $HOME") =>
      (await one.exec(command, { user })).stdout.text;
    expect(await as("nobody")).toMatch(/^65534\n65534\n\/nonexistent\n$/);
    expect(await as("1234:4321")).toBe("1234\n4321\n/\n");
    for (const user of ["no-such-user", "1234"]) {
      const message = expect.stringMatching(`"user" "${user}": .*/etc/passwd has no such user: .*"1000:1000"$`);
      await expect(as(user)).rejects.toMatchObject({ code: "INVALID", message });
    }
    expect(await as("nobody", "cat /proc/1/environ; kill -9 -1; echo x > /etc/mine")).toBe("");
    const stubborn = await one.exec("trap '' TERM; (setsid sleep 77 &); sleep 78", { user: "nobody", timeoutMs: 300 });
    expect(stubborn.reason).toBe("timeout");
    expect((await one.exec("grep -alE 'sleep.7[78]' /proc/[0-9]*/cmdline")).exitCode).not.toBe(0);
    await one.exec(
      "mkdir /opt/mine && echo kept > /opt/mine/file && cp -p /etc/debian_version /usr/local/old && mkdir dev && echo dev > dev/file",
    );
    const { id } = await one.snapshot();
    kept.push(id);
    const other = await made(createSandbox(root, { snapshot: id }));
    const [fork] = await other.fork();
    if (!fork) throw new Error("there is no fork");
    open.push(fork);
    const show = "cat /opt/mine/file dev/file; ls /usr/local/old";
    expect((await fork.exec(show)).stdout.text).toBe("kept\ndev\n/usr/local/old\n");
    await expect(createSandbox(provider, { snapshot: id })).rejects.toMatchObject({ code: "INVALID" });
  });
});
