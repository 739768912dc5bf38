import { UsageError } from "./usage-error.js";

/** The values of an option that takes `NAME=VALUE`; of one name the last counts. @throws UsageError */
export function parsePairs(option: string, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    values.map((value) => {
      const at = value.indexOf("=");
      if (at > 0) return [value.slice(0, at), value.slice(at + 1)];
      throw new UsageError(`option "--${option}" cannot be "${value}"`, [
        { text: `a name and a value: --${option} task=42` },
      ]);
    }),
  );
}
