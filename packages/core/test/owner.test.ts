import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ownerLabel, ownerState } from "../src/owner.js";

const kit = fileURLToPath(new URL("../dist/kit.js", import.meta.url));

describe("an owner", () => {
  it("is told apart from programs that had its number before, and from those of other places", async () => {
    const label = await ownerLabel();
    expect(await ownerState(label)).toBe("alive");
    const [place, pid] = label.split(":");
    expect(await ownerState(`${place}:${pid}:1`)).toBe(process.platform === "linux" ? "dead" : "alive");
    expect(await ownerState("another-boot/1:1:1")).toBe("unknown");
    expect(await ownerState("")).toBe("unknown");
  });

  it("is dead once its program is", async () => {
    const program = `import { ownerLabel } from ${JSON.stringify(kit)}; console.log(await ownerLabel()); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [label] = await once(createInterface({ input: child.stdout }), "line");
    expect(await ownerState(label)).toBe("alive");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await ownerState(label)).toBe("dead");
  });
});
