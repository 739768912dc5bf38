import { writeFile } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base, copyLicenses } from "../../tsup.base.js";
import { configJsonSchema } from "./src/config.js";

const builtIn = [
  "@hono/node-server",
  "@modelcontextprotocol/core",
  "@modelcontextprotocol/node",
  "@modelcontextprotocol/server",
  "hono",
  "zod",
];

export default defineConfig([
  {
    ...base,
    entry: ["src/index.ts"],
    clean: base.clean && ["!start/**"],
    async onSuccess() {
      await writeFile("dist/config.schema.json", `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
    },
  },
  {
    // What programs start with: reading the hundred modules of the SDK and of zod takes longer than all else of a start.
    ...base,
    entry: ["src/cli.ts", "src/run-mcp.ts", "src/choose.ts"],
    outDir: "dist/start",
    noExternal: builtIn,
    onSuccess: () => copyLicenses("dist/start", builtIn),
  },
]);
