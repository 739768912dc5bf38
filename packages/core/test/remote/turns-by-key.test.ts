import { expect, it } from "vitest";
import { deferred } from "../../src/deferred.js";
import { TurnsByKey } from "../../src/remote/turns-by-key.js";

it("has work on one key wait for the work before it, and on others not", async () => {
  const turns = new TurnsByKey();
  const goOn = deferred<void>();
  const order: string[] = [];
  const first = turns.run("a", async () => {
    await goOn.promise;
    order.push("first");
  });
  const second = turns.run("a", async () => {
    order.push("second");
  });
  await turns.run("b", async () => {
    order.push("other");
  });
  goOn.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(["other", "first", "second"]);
});

it("has the turn of one that was aborted while it waited go to the next, not before its time", async () => {
  const turns = new TurnsByKey();
  const goOn = deferred<void>();
  const order: string[] = [];
  const stop = new AbortController();
  const first = turns.run("a", async () => {
    await goOn.promise;
    order.push("first");
  });
  const aborted = turns.run(
    "a",
    async () => {
      order.push("aborted");
    },
    stop.signal,
  );
  const third = turns.run("a", async () => {
    order.push("third");
  });
  const reason = new Error("enough");
  stop.abort(reason);
  // At once, though the first is not done.
  await expect(aborted).rejects.toBe(reason);
  expect(order).toEqual([]);
  goOn.resolve();
  await Promise.all([first, third]);
  expect(order).toEqual(["first", "third"]);
});

it("goes on after work that failed", async () => {
  const turns = new TurnsByKey();
  const failed = turns.run("a", () => Promise.reject(new Error("no")));
  const next = turns.run("a", async () => "next");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("next");
});
