import { expect, it } from "vitest";
import { SandboxError } from "../src/errors.js";
import { Sweep } from "../src/sweep.js";

const fails = (message: string) => () => Promise.reject(new SandboxError("UNAVAILABLE", message));

it("a sweep goes on after what cannot be removed, and tells of that and of what it did", async () => {
  const sweep = new Sweep("test");
  await sweep.remove("first", fails("the disk is away"));
  await sweep.remove("second", async () => undefined);
  await sweep.remove("needed", async () => false);
  await sweep.attempt("the rest", fails("nobody answers"));
  expect(() => sweep.end()).toThrow(
    expect.objectContaining({
      code: "UNAVAILABLE",
      provider: "test",
      message: expect.stringMatching(/first: the disk is away; the rest: nobody answers \(removed: second\)$/),
    }),
  );
});

it("a dry sweep removes nothing and tells what it would", async () => {
  const sweep = new Sweep("test", { dryRun: true });
  await sweep.remove("first", fails("it was removed"));
  expect(sweep.end()).toEqual([{ provider: "test", id: "first" }]);
});
