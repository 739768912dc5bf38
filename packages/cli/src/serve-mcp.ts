import { runMcp } from "@sandkit/mcp-server";
import type { Invocation } from "./command.js";
import { UsageError } from "./usage-error.js";

const transports = ["stdio", "http"];

/** `sandkit mcp`: checks what it was called with, then is `sandkit-mcp`. */
export async function serveMcp({ values, positionals, args }: Invocation): Promise<number> {
  const [transport = "stdio"] = positionals;
  if (!transports.includes(transport)) {
    throw new UsageError(`cannot serve over "${transport}"`, [{ text: `one of: ${transports.join(", ")}` }]);
  }
  const { port } = values;
  if (typeof port === "string" && !(/^\d+$/.test(port) && Number(port) <= 65_535)) {
    throw new UsageError(`option "--port" cannot be "${port}"`, [
      { text: "a number from 0 (any that is free) to 65535" },
    ]);
  }
  const httpOnly = ["port", "host", "allow-host"].find((name) => Object.hasOwn(values, name));
  if (transport === "stdio" && httpOnly !== undefined) {
    throw new UsageError(`option "--${httpOnly}" goes with http`, [
      { text: "listen", command: `sandkit mcp http --${httpOnly} …` },
    ]);
  }
  return await runMcp(args.filter((argument) => argument !== "--no-color"));
}
