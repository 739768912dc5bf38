import { mkdir } from "node:fs/promises";
import { defineProvider } from "../../src/define-provider.js";
import { type CreateOptions, SandboxError } from "../../src/index.js";
import type { Provider } from "../../src/provider.js";
import { remoteSession } from "../../src/remote/remote-session.js";
import { SessionRegistry } from "../../src/session-registry.js";
import type { LocalTerminalOptions } from "./local-terminal.js";
import { LocalBox, remoteCapabilities } from "./remote-box.js";

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A provider of folders of this machine, each reached over a terminal alone, for the suite that all providers pass. */
export function remoteProvider(options: () => LocalTerminalOptions = () => ({})): Provider {
  const registry = new SessionRegistry("remote-test");
  return defineProvider({
    name: "remote-test",
    capabilities: remoteCapabilities,
    validate,
    create: (asked) =>
      registry.create(asked, async ({ id }) => {
        const box = new LocalBox({ ...options(), env: { PATH: `${path}:${process.env.PATH ?? ""}` } }, asked, id);
        try {
          for (const folder of box.directories) await mkdir(folder, { recursive: true });
          return await remoteSession(box, { origin: "created", signal: asked.signal });
        } catch (error) {
          await box.destroy();
          throw error;
        }
      }),
    attach: (ref) => registry.attach(ref),
    list: (wanted) => registry.list(wanted),
  });
}

function validate(options: CreateOptions): void {
  for (const name of ["image", "workdir", "native"] as const) {
    if (options[name] === undefined) continue;
    throw new SandboxError("UNSUPPORTED", `option "${name}": provider "remote-test" has none: leave it out`);
  }
  if (options.template !== undefined && options.template !== "python") {
    throw new SandboxError("INVALID", `option "template": there is no "${options.template}", only "python"`);
  }
}
