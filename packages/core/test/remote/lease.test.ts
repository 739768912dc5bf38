import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { deferred } from "../../src/deferred.js";
import { SandboxError } from "../../src/errors.js";
import { Lease } from "../../src/remote/lease.js";

/** Writes down what is renewed; fails as often as it is told. */
function renewals(failures: (Error | undefined)[] = []) {
  const spans: number[] = [];
  const renew = async (ms: number) => {
    spans.push(ms);
    const failure = failures.shift();
    if (failure) throw failure;
  };
  return { spans, renew };
}

it("renews for a whole lease, every third of it", async () => {
  const { spans, renew } = renewals();
  const lease = new Lease({ leaseMs: 150, renew });
  lease.start();
  await expect.poll(() => spans.length).toBeGreaterThanOrEqual(3);
  lease.stop();
  expect(new Set(spans)).toEqual(new Set([150]));
  const count = spans.length;
  await sleep(200);
  expect(spans).toHaveLength(count);
});

it("never goes beyond the user's end, and rests after it", async () => {
  const { spans, renew } = renewals();
  const lease = new Lease({ leaseMs: 300, ttlMs: 1_000, renew });
  lease.start();
  await sleep(1_500);
  expect(spans[0]).toBe(300);
  expect(spans.at(-1)).toBeLessThan(300);
  const count = spans.length;
  await sleep(200);
  expect(spans).toHaveLength(count);
});

it("moves the user's end, unless the vendor refuses", async () => {
  const { spans, renew } = renewals([undefined, new Error("no")]);
  const lease = new Lease({ leaseMs: 10_000, ttlMs: 1_000, renew });
  lease.start();
  await lease.extend(5_000);
  expect(spans[0]).toBeGreaterThan(4_900);
  await expect(lease.extend(9_000)).rejects.toThrow("no");
  expect(lease.restMs).toBeLessThanOrEqual(5_000);
  await lease.stop();
  await lease.extend(7_000);
  expect([spans.length, (lease.restMs ?? 0) > 5_000]).toEqual([2, true]);
});

it("tries again after a failure, until the box is confirmed gone", async () => {
  const gone = new SandboxError("NOT_FOUND", "gone");
  const { spans, renew } = renewals([new Error("no route"), gone, gone, gone]);
  const words: (boolean | Error)[] = [false, new Error("nobody tells"), true];
  const asked = deferred<void>();
  const confirmGone = async () => {
    const word = words.shift();
    if (words.length === 0) asked.resolve();
    if (word instanceof Error) throw word;
    return word ?? true;
  };
  new Lease({ leaseMs: 30, renew, confirmGone }).start();
  await asked.promise;
  expect(spans).toHaveLength(4);
  await sleep(1_200);
  expect(spans).toHaveLength(4);
});

it("has no renewal under way any more when it has stopped, nor two at one time", async () => {
  let underWay = 0;
  let most = 0;
  const lease = new Lease({
    leaseMs: 30,
    renew: async () => {
      most = Math.max(most, ++underWay);
      await sleep(100);
      underWay -= 1;
    },
  });
  lease.start();
  await expect.poll(() => underWay).toBe(1);
  const extended = lease.extend(60_000);
  await lease.stop();
  expect([underWay, most]).toEqual([0, 1]);
  await extended;
});
