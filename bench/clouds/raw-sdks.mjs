import { createRequire } from "node:module";

/**
 * One sandbox by the vendor's SDK alone.
 * @typedef {{
 *   exec: (command: string) => Promise<unknown>,
 *   write: (path: string, bytes: Buffer) => Promise<unknown>,
 *   read: (path: string) => Promise<number>,
 *   destroy: () => Promise<unknown>,
 * }} RawSandbox
 */

const folder = (/** @type {string} */ name) => new URL(`../../packages/provider-${name}/package.json`, import.meta.url);

/**
 * What makes sandboxes by the SDK that our provider uses, in the way its makers show.
 * @type {Readonly<Record<"e2b" | "daytona", (cloud: import("./start-cloud.mjs").Cloud) => () => Promise<RawSandbox>>>}
 */
export const rawSdks = {
  e2b({ url, apiKey }) {
    const { Sandbox } = createRequire(folder("e2b"))("e2b");
    return async () => {
      const sandbox = await Sandbox.create("base", { apiKey, apiUrl: url, sandboxUrl: url });
      return {
        exec: (command) => sandbox.commands.run(command),
        write: (path, bytes) => sandbox.files.write(path, new Blob([bytes])),
        read: async (path) => (await sandbox.files.read(path, { format: "bytes" })).length,
        destroy: () => sandbox.kill(),
      };
    };
  },
  daytona({ url, apiKey }) {
    const { Daytona } = createRequire(folder("daytona"))("@daytonaio/sdk");
    const client = new Daytona({ apiKey, apiUrl: url, target: "us", useDeprecatedPolling: true });
    return async () => {
      const sandbox = await client.create();
      return {
        exec: (command) => sandbox.process.executeCommand(command),
        write: (path, bytes) => sandbox.fs.uploadFile(bytes, path),
        read: async (path) => (await sandbox.fs.downloadFile(path)).length,
        destroy: () => sandbox.delete(),
      };
    };
  },
};
