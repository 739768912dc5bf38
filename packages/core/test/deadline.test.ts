import { describe, expect, it, vi } from "vitest";
import { Deadline, settlesWithin, unlessAborted } from "../src/deadline.js";

describe("Deadline", () => {
  it("strikes once, with the reason that came first", async () => {
    const strikes: string[] = [];
    const controller = new AbortController();
    const deadline = new Deadline({ timeoutMs: 10, signal: controller.signal }, (reason) => strikes.push(reason));
    deadline.resume();
    await vi.waitFor(() => expect(strikes).toEqual(["timeout"]));
    controller.abort();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(strikes).toEqual(["timeout"]);
  });

  it("does not count while it is paused", () => {
    vi.useFakeTimers();
    try {
      const onStrike = vi.fn();
      const deadline = new Deadline({ timeoutMs: 100 }, onStrike);
      deadline.resume();
      vi.advanceTimersByTime(60);
      deadline.pause();
      vi.advanceTimersByTime(10_000);
      deadline.resume();
      vi.advanceTimersByTime(39);
      expect(onStrike).not.toHaveBeenCalled();
      vi.advanceTimersByTime(2);
      expect(onStrike).toHaveBeenCalledExactlyOnceWith("timeout");
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not run before it is resumed", () => {
    vi.useFakeTimers();
    try {
      const onStrike = vi.fn();
      new Deadline({ timeoutMs: 100 }, onStrike);
      vi.advanceTimersByTime(1000);
      expect(onStrike).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  it("strikes for a signal that was aborted before", async () => {
    const onStrike = vi.fn();
    new Deadline({ signal: AbortSignal.abort() }, onStrike);
    await Promise.resolve();
    expect(onStrike).toHaveBeenCalledExactlyOnceWith("aborted");
  });

  it("strikes no more once disposed, and lets go of the signal", () => {
    const controller = new AbortController();
    const onStrike = vi.fn();
    new Deadline({ signal: controller.signal }, onStrike)[Symbol.dispose]();
    controller.abort();
    expect(onStrike).not.toHaveBeenCalled();
  });
});

describe("settlesWithin", () => {
  it("tells a promise that settles from one that does not", async () => {
    expect(await settlesWithin(Promise.resolve(), 50)).toBe(true);
    expect(await settlesWithin(Promise.reject(new Error("no")), 50)).toBe(true);
    expect(await settlesWithin(new Promise(() => undefined), 5)).toBe(false);
  });
});

describe("unlessAborted", () => {
  it("rejects with the reason of the signal", async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(new Promise(() => undefined), controller.signal);
    controller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
  });
});
