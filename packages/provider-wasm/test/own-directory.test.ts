import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "@sandkit/core";
import { afterAll, describe, expect, it, vi } from "vitest";
import { wasm } from "../src/index.js";
import { codeCacheDirectory } from "../src/own-directory.js";

const parent = realpathSync(mkdtempSync(join(tmpdir(), "sandkit-directory-")));
afterAll(() => rmSync(parent, { recursive: true }));

const refusals: readonly (readonly [why: string, text: string, make: () => string])[] = [
  ["others can read it", "open to other users", () => made("readable", 0o750)],
  ["others can write to it", "open to other users", () => made("writable", 0o702)],
  ["others can put another in its place", "can be replaced", () => made(join(made("loose", 0o777), "below"))],
  ["it is a link", "no directory of its own", () => linked(made("target"))],
  ["it is a file", "is no directory", () => file("file")],
  ["it lies below a file", "cannot be used", () => join(file("other-file"), "below")],
  ["it is relative", "no absolute path", () => "relative"],
  ["its name means something else to Node", "comma", () => join(parent, "a,b")],
];

function made(name: string, mode = 0o700): string {
  const path = name.startsWith("/") ? name : join(parent, name);
  mkdirSync(path);
  // Past the umask.
  chmodSync(path, mode);
  return path;
}

function linked(target: string): string {
  symlinkSync(target, join(parent, "link"));
  return join(parent, "link");
}

function file(name: string): string {
  writeFileSync(join(parent, name), "");
  return join(parent, name);
}

describe.runIf(process.getuid !== undefined)("the directory for compiled code", () => {
  it("is made for this user alone, with what leads to it", () => {
    const path = join(parent, "new/deep");
    expect(codeCacheDirectory(path)).toEqual({ path });
    expect([path, join(parent, "new")].map((made) => statSync(made).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(codeCacheDirectory(path)).toEqual({ path });
  });

  it.each(refusals)("is refused when %s", (_, text, make) => {
    expect(codeCacheDirectory(make())).toEqual({ refused: expect.stringContaining(text) });
  });

  it("is not made where there is no home", () => {
    vi.stubEnv("HOME", join(parent, "nobody"));
    vi.stubEnv("XDG_CACHE_HOME", undefined);
    expect(codeCacheDirectory()).toEqual({ refused: expect.stringContaining("no home directory") });
    vi.unstubAllEnvs();
    expect(existsSync(join(parent, "nobody"))).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)("is refused when it, or one above it, belongs to another user", () => {
    const [foreign, above] = [made("foreign"), made("foreign-above")];
    const below = made(join(above, "below"));
    chownSync(foreign, 12_345, 12_345);
    chownSync(above, 12_345, 12_345);
    expect(codeCacheDirectory(foreign)).toEqual({ refused: expect.stringContaining("belongs to another user") });
    expect(codeCacheDirectory(below)).toEqual({ refused: expect.stringContaining("can be replaced") });
  });

  it("that was asked for and is refused fails the create, from a pool too, and the check", async () => {
    for (const options of [{}, { pool: { size: 1 } }]) {
      const provider = wasm({ codeCache: "relative", ...options });
      const invalid = { code: "INVALID", message: expect.stringContaining("codeCache") };
      await expect(createSandbox(provider)).rejects.toMatchObject(invalid);
      expect(await provider.check()).toMatchObject({ ok: false, detail: expect.stringContaining("relative") });
      await provider.close?.();
    }
  });

  it("is told by the check, and so is where there is none", async () => {
    const path = made("told");
    expect((await wasm({ codeCache: path }).check()).detail).toContain(`compiled code kept in ${path}`);
    expect((await wasm({ codeCache: false }).check()).detail).toContain("compiled code not kept");
  });
});
