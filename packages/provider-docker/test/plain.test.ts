import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, engine, testImages } from "./engine.js";

const boxes = { bash: testImages.bare, busybox: testImages.busybox };

for (const [name, image] of Object.entries(boxes)) {
  describeOnEngine(`a box with ${name} alone`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await createSandbox(docker(), { image });
    });
    afterAll(() => sandbox.destroy());

    /** Command lines of all that runs in the box. */
    const running = async (): Promise<string[]> => {
      const { Processes }: { Processes: string[][] } = await engine
        .getContainer((await containerId(sandbox)) ?? "")
        .top();
      return Processes.map((fields) => fields.at(-1) ?? "");
    };

    it("tells an exit from a death by a signal", async () => {
      expect(await sandbox.exec("exit 137")).toMatchObject({ reason: "exited", exitCode: 137 });
      for (const signal of ["KILL", "TERM", "SEGV"]) {
        expect(await sandbox.exec(`kill -${signal} $$`)).toMatchObject({ reason: "signaled", signal: `SIG${signal}` });
      }
    });

    it("ends a tree that left its session, its environment and its parent, and nothing else", async () => {
      const other = await sandbox.spawn("exec sleep 611");
      const tree = "(setsid env -i /bin/sh -c '(trap \"\" TERM; sleep 612; :) & sleep 612' &) ; sleep 612";
      expect(await sandbox.exec(tree, { timeoutMs: 500 })).toMatchObject({ reason: "timeout" });
      const left = await running();
      expect(left.filter((line) => line.includes("sleep 612"))).toEqual([]);
      expect(left.filter((line) => line === "sleep 611")).toHaveLength(1);
      await other.kill();
    });

    it.each(["ulimit -x 1; exec sleep 613", "(ulimit -x 1; exec sleep 613) & sleep 613"])(
      "ends what has lowered its mark, and nothing else: %s",
      async (program) => {
        const other = await sandbox.spawn("exec sleep 611");
        const lowering = program.replace("-x", (await sandbox.exec("ulimit -x 2>/dev/null")).ok ? "-x" : "-w");
        expect(await sandbox.exec(lowering, { timeoutMs: 500 })).toMatchObject({ reason: "timeout" });
        expect((await running()).filter((line) => /^sleep 61[13]$/.test(line))).toEqual(["sleep 611"]);
        await other.kill();
      },
    );

    it("opens large files and floods, whichever of its outputs the engine brings first", async () => {
      await sandbox.files.write("large", new Uint8Array(2 * 1024 * 1024));
      for (let round = 0; round < 10; round++) {
        await (await sandbox.files.readStream("large")).cancel();
        const flood = await sandbox.spawn("exec cat large large");
        await flood.kill("SIGKILL");
      }
    });

    it("takes no file for whole that could not be read to its end", async () => {
      await expect(sandbox.files.read("/sys/class/net/lo/speed")).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(sandbox.files.read("/sys/class/net/lo/speed", { offset: 1, length: 9 })).rejects.toThrow("EIO");
      await sandbox.files.write("ten", "0123456789");
      expect(await sandbox.files.readText("ten", { offset: 2, length: 3 })).toBe("234");
    });

    it("leaves nothing running of a read that was cancelled", async () => {
      await sandbox.files.write("big", new Uint8Array(8 * 1024 * 1024));
      const reader = (await sandbox.files.readStream("big")).getReader();
      await reader.read();
      await reader.cancel();
      await expect.poll(async () => (await running()).filter((line) => line.startsWith("cat"))).toEqual([]);
    });

    it("runs its own shell and tools, whatever a program puts into the PATH", async () => {
      await using one = await createSandbox(docker(), { image });
      const fake =
        "mkdir -p ~/.local/bin; cd ~/.local/bin; for name in sh cat grep stat find; do echo fake > $name; chmod +x $name; done";
      expect((await one.exec(fake)).exitCode).toBe(0);
      expect(await one.exec(["sleep", "60"], { timeoutMs: 1_000, killGraceMs: 50 })).toMatchObject({
        reason: "timeout",
      });
      await one.files.write("file", "content");
      expect(await one.files.readText("file")).toBe("content");
      expect((await one.files.list(".")).map(({ type }) => type)).toEqual(["file"]);
    });

    it("does not take what a program prints for a report about it", async () => {
      const { stderr, exitCode } = await sandbox.exec("printf 'x\\0y\\0started 1\\nz\\0' >&2; exit 5");
      expect([stderr.text, exitCode]).toEqual(["x\0y\0started 1\nz\0", 5]);
    });

    it("takes no report that ours could not be, of a program that has found out how to make one", async () => {
      const find = "for a in $(cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -xE '[0-9a-f]{24}'); do";
      const forge = (end: string) => `${find} printf "\\0$a ${end}" >&2; done; exit 3`;
      for (const end of ["exited -5 alone\\n", "exited nonsense alone\\n", "exited 256 alone\\n", ""]) {
        expect(await sandbox.exec(forge(end), { timeoutMs: 10_000 })).toMatchObject({ exitCode: 3 });
      }
      expect(await sandbox.exec("kill -9 $PPID", { timeoutMs: 10_000 })).toMatchObject({ reason: "signaled" });
    });

    it("has files with every name", async () => {
      for (const file of ["-rf", "line\nbreak\n", "a 'b' \"c\" $d", "é漢🎈", "*"]) {
        await sandbox.files.write(`names/${file}`, file);
        expect(await sandbox.files.readText(`names/${file}`)).toBe(file);
        await sandbox.files.move(`names/${file}`, `moved/${file}`);
        expect((await sandbox.files.list("moved")).map(({ path }) => path)).toEqual([`/workspace/moved/${file}`]);
        expect(await sandbox.files.remove("moved", { recursive: true })).toBe(true);
      }
    });

    it("says what it cannot do", async () => {
      expect(sandbox.capabilities.features).toMatchObject({
        "exec.killTree": "emulated",
        "exec.pty": false,
        "kernel.python": false,
        "lifetime.detached": false,
      });
      await expect(sandbox.runCode("1")).rejects.toMatchObject({ code: "UNSUPPORTED" });
      await expect(createSandbox(docker(), { image, lifetime: { detached: true } })).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: expect.stringContaining("python3"),
      });
    });

    it("has no network", async () => {
      const { stdout } = await sandbox.exec("cat /proc/net/dev /proc/net/route");
      expect(stdout.text.match(/^ *\w+(?=:)/gm)?.map((device) => device.trim())).toEqual(["lo"]);
      expect(stdout.text).not.toMatch(/^\w+\t00000000\t/m);
    });
  });
}

async function containerId(sandbox: Sandbox): Promise<string | undefined> {
  const found = await engine.listContainers({ filters: { label: [`sandkit.id=${sandbox.ref.id}`] } });
  return found[0]?.Id;
}
