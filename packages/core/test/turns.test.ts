import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Turns } from "../src/turns.js";

describe("Turns", () => {
  it("lets no more than its number run at one time, in the order in which they came", async () => {
    const turns = new Turns(3);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        turns.run(undefined, async () => {
          order.push(index);
          running += 1;
          most = Math.max(most, running);
          await pause(2);
          running -= 1;
        }),
      ),
    );
    expect(most).toBe(3);
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  it("lets who waits give up, and the others go on", async () => {
    const turns = new Turns(1);
    const stop = new AbortController();
    const first = turns.run(undefined, () => pause(20));
    const second = turns.run(stop.signal, async () => "ran");
    const third = turns.run(undefined, async () => "third");
    stop.abort(new Error("no more"));
    await expect(second).rejects.toThrow("no more");
    await first;
    expect(await third).toBe("third");
  });

  it("frees the turn of work that fails", async () => {
    const turns = new Turns(1);
    await expect(turns.run(undefined, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(await turns.run(undefined, async () => "next")).toBe("next");
  });
});
