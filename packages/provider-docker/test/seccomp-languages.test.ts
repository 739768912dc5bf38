import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { describeOnEngine } from "./engine.js";
import { runInContainer } from "./run-in-container.js";

/** Large images that only these tests use: `npm test` builds them when they are going to run. */
const goImage = process.env.SANDKIT_TEST_IMAGE_GO ?? "sandkit/go:test";
const rustImage = process.env.SANDKIT_TEST_IMAGE_RUST ?? "sandkit/rust:test";

const guest = (name: string) => readFileSync(new URL(`guest/${name}`, import.meta.url), "utf8");
const compiling = { timeout: 120_000 };

describeOnEngine("compilers under the filter of system calls", () => {
  it("Go builds and runs a program with goroutines, children and sockets", compiling, async () => {
    const run = ["sh", "-c", "cat >/tmp/main.go && cd /tmp && exec go run main.go"];
    expect(await runInContainer(goImage, run, guest("ordinary.go"))).toBe("fine\n");
  });

  it("Rust builds and runs a program with threads, children and sockets", compiling, async () => {
    const run = ["sh", "-c", "cat >/tmp/main.rs && cd /tmp && rustc main.rs && exec ./main"];
    expect(await runInContainer(rustImage, run, guest("ordinary.rs"))).toBe("fine\n");
  });

  it("gcc builds and runs a program with threads and children", compiling, async () => {
    const run = ["sh", "-c", "cat >/tmp/main.c && cd /tmp && gcc -pthread main.c -o main && exec ./main"];
    expect(await runInContainer(rustImage, run, guest("ordinary.c"))).toBe("fine\n");
  });
});
