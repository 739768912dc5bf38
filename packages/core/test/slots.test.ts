import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Slots } from "../src/slots.js";

describe("Slots", () => {
  it("lets no more than its number run at one time, in the order in which they came", async () => {
    const slots = new Slots(3);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        slots.run(undefined, async () => {
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
    const slots = new Slots(1);
    const stop = new AbortController();
    const first = slots.run(undefined, () => pause(20));
    const second = slots.run(stop.signal, async () => "ran");
    const third = slots.run(undefined, async () => "third");
    stop.abort(new Error("no more"));
    await expect(second).rejects.toThrow("no more");
    await first;
    expect(await third).toBe("third");
  });

  it("frees the slot of work that fails", async () => {
    const slots = new Slots(1);
    await expect(slots.run(undefined, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(await slots.run(undefined, async () => "next")).toBe("next");
  });
});
