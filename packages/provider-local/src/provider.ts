import { type CreateOptions, defineProvider, type Provider } from "@sandkit/core";
import { type AgentRuntime, Once, SessionRegistry } from "@sandkit/core/kit";
import { agentCapabilities, startAgentBox } from "./agent-box.js";
import { failure, providerName } from "./errors.js";
import { Folder } from "./folder.js";
import { findPython, type Python, pythonFix } from "./python.js";
import { reapFolders } from "./reap.js";
import { LocalSession, localCapabilities } from "./session.js";

/** How {@link local} is set up. */
export interface LocalOptions {
  /** Name or path of the Python that supervises commands; default `python3`. */
  readonly python?: string | undefined;
  /** Runs everything through a guest agent, as the boxes of other providers do. Default: a supervisor per command. */
  readonly agent?: AgentRuntime | undefined;
}

/** Starting images: all of them are the host as it is. */
const templates = ["python", "bash"];

/**
 * Runs commands as plain processes of this machine, with all the rights of the caller. It isolates nothing: it is there
 * to prove the contract on real processes.
 * @throws SandboxError `UNAVAILABLE` outside tests
 */
export function local(options: LocalOptions = {}): Provider {
  if (!process.env.VITEST && process.env.SANDKIT_ALLOW_LOCAL !== "1") {
    const next =
      "choose a provider that isolates, such as wasm(); set SANDKIT_ALLOW_LOCAL=1 only to run code that you trust";
    throw failure("UNAVAILABLE", "local", `provider "local" isolates nothing and is for tests: ${next}`);
  }
  const name = options.python ?? "python3";
  const registry = new SessionRegistry(providerName);
  const python = new Once<Python>();
  const ready = () => python.run(() => findPython(name));
  return defineProvider({
    name: providerName,
    capabilities: options.agent ? agentCapabilities : localCapabilities,
    validate,
    create: (asked) =>
      registry.create(asked, async ({ id }) => {
        asked.signal?.throwIfAborted();
        const { path } = await ready();
        const folder = new Folder(id);
        await folder.make();
        if (options.agent) return startAgentBox(id, folder, path, options.agent, asked);
        return LocalSession.open(id, folder, path, asked);
      }),
    attach: (ref) => registry.attach(ref),
    list: (wanted) => registry.list(wanted),
    reap: reapFolders,
    async check() {
      try {
        const { path, version } = await ready();
        return {
          ok: true,
          detail: `plain processes of this machine under Python ${version} (${path}); isolates nothing`,
        };
      } catch (error) {
        return { ok: false, detail: error instanceof Error ? error.message : String(error), fix: pythonFix };
      }
    },
  });
}

function validate(options: CreateOptions): void {
  if (options.image !== undefined) {
    const next = "leave it out: commands run on the host as it is";
    throw failure("UNSUPPORTED", "create", `option "image": provider "local" has no images: ${next}`);
  }
  if (options.workdir !== undefined) {
    const next = "it makes a new folder for every sandbox and never works in another one of the host: leave it out";
    throw failure("UNSUPPORTED", "create", `option "workdir": provider "local" cannot honour it: ${next}`);
  }
  if (options.native !== undefined) {
    throw failure("UNSUPPORTED", "create", 'option "native": provider "local" has no options of its own: leave it out');
  }
  if (options.template !== undefined && !templates.includes(options.template)) {
    const known = templates.map((one) => `"${one}"`).join(" or ");
    throw failure(
      "INVALID",
      "create",
      `option "template": provider "local" has no "${options.template}": use ${known}`,
    );
  }
}
