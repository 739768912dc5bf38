import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Gives back what the start needed, which V8 would keep until memory is short. Takes some milliseconds. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}
