import { runMcp } from "@sandkit/mcp-server/run";
import type { Invocation } from "./command.js";
import { UsageError } from "./usage-error.js";

const transports = ["stdio", "http", "grant", "example"];

/** `sandkit mcp`: checks what it was called with, then is `sandkit-mcp`, or a client that starts it. */
export async function serveMcp({ values, positionals, args }: Invocation): Promise<number> {
  const [transport = "stdio"] = positionals;
  if (!transports.includes(transport)) {
    throw new UsageError(`cannot serve over "${transport}"`, [{ text: `one of: ${transports.join(", ")}` }]);
  }
  const { port, principal } = values;
  if (transport !== "grant" && (positionals.length > 1 || principal !== undefined)) {
    throw new UsageError(`only "grant" takes the id of a sandbox and "--principal"`, [
      { text: "grant", command: "sandkit mcp grant ID --principal NAME" },
    ]);
  }
  if (typeof port === "string" && !(/^\d+$/.test(port) && Number(port) <= 65_535)) {
    throw new UsageError(`option "--port" cannot be "${port}"`, [
      { text: "a number from 0 (any that is free) to 65535" },
    ]);
  }
  const httpOnly = ["port", "host", "allow-host"].find((name) => Object.hasOwn(values, name));
  if (transport !== "http" && httpOnly !== undefined) {
    throw new UsageError(`option "--${httpOnly}" goes with http`, [
      { text: "listen", command: `sandkit mcp http --${httpOnly} …` },
    ]);
  }
  const passed = args.filter((argument) => argument !== "--no-color");
  if (transport !== "example") return await runMcp(passed);
  const { showExample } = await import("./mcp-example/show-example.js");
  return await showExample(passed.filter((argument) => argument !== "example"));
}
