import { expect, it } from "vitest";
import { type NamedBox, settleName } from "../../src/remote/settle-name.js";

/** A vendor that lists what was made, when it feels like it. */
class Vendor {
  readonly boxes: NamedBox[] = [];
  lists = true;

  make(id: string, time: number): NamedBox {
    const box = { id, createdAt: new Date(time) };
    this.boxes.push(box);
    return box;
  }

  settle({ id }: NamedBox, signal?: AbortSignal): Promise<boolean> {
    return settleName({ name: "build", id, find: async () => (this.lists ? [...this.boxes] : []), signal });
  }
}

it("gives the name to the oldest, and to the same one for all", async () => {
  const vendor = new Vendor();
  const made = [vendor.make("b", 2), vendor.make("a", 1), vendor.make("c", 2)];
  expect(await Promise.all(made.map((mine) => vendor.settle(mine)))).toEqual([false, true, false]);
});

it("is the same for all when they are of one age", async () => {
  const vendor = new Vendor();
  const made = [vendor.make("y", 5), vendor.make("x", 5)];
  expect(await Promise.all(made.map((mine) => vendor.settle(mine)))).toEqual([false, true]);
});

it("waits for a list that knows the new one", async () => {
  const vendor = new Vendor();
  const mine = vendor.make("a", 1);
  vendor.lists = false;
  const settling = vendor.settle(mine);
  vendor.lists = true;
  expect(await settling).toBe(true);
});

it("fails when the list never knows it, or the caller leaves", async () => {
  const vendor = new Vendor();
  vendor.lists = false;
  await expect(vendor.settle(vendor.make("a", 1))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const reason = new Error("enough");
  await expect(vendor.settle(vendor.make("b", 1), AbortSignal.abort(reason))).rejects.toBe(reason);
});
