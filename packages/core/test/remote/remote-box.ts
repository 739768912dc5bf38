import { randomUUID } from "node:crypto";
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFeatures } from "../../src/agent/agent-features.js";
import { capabilities } from "../../src/capabilities.js";
import type { CreateOptions } from "../../src/options.js";
import type { RemoteBox } from "../../src/remote/remote-box.js";
import { LocalTerminal, type LocalTerminalOptions } from "./local-terminal.js";

export const remoteCapabilities = capabilities({
  isolation: "none",
  features: {
    ...agentFeatures,
    // The vendor's to give.
    ports: false,
    "network.full": "native",
    "lifetime.ttl": "native",
    "lifetime.idle": "native",
    "lifetime.detached": "native",
    attach: "native",
    list: "native",
  },
});

/** A folder of this machine as a box that is reached over terminals alone. */
export class LocalBox implements RemoteBox {
  readonly ref: { readonly provider: string; readonly id: string };
  readonly capabilities = remoteCapabilities;
  readonly root: string;
  readonly workdir: string;
  readonly directories: readonly string[];
  readonly env: Record<string, string>;
  readonly terminals: LocalTerminal[] = [];
  readonly #options: LocalTerminalOptions;
  readonly #asked: CreateOptions;
  createdAt = new Date();
  state: "running" | "paused" | "gone" = "running";

  constructor(options: LocalTerminalOptions = {}, asked: CreateOptions = {}, id = randomUUID() as string) {
    this.ref = { provider: "remote-test", id };
    this.root = join(realpathSync(tmpdir()), `sandkit-remote-${id}`);
    this.workdir = join(this.root, "work");
    this.directories = [join(this.root, "home"), join(this.root, "tmp")];
    this.#options = options;
    this.#asked = asked;
    const [HOME = "", TMPDIR = ""] = this.directories;
    this.env = { HOME, TMPDIR, LANG: "C.UTF-8", ...asked.env };
  }

  /** The one that was asked for last. */
  get lastTerminal(): LocalTerminal {
    const last = this.terminals.at(-1);
    if (!last) throw new Error("no terminal was asked for");
    return last;
  }

  terminal(): LocalTerminal {
    const terminal = new LocalTerminal(this.#options);
    this.terminals.push(terminal);
    return terminal;
  }

  async info() {
    const { name, template, labels = {} } = this.#asked;
    return { state: this.state, origin: "created", createdAt: this.createdAt, name, template, labels } as const;
  }

  async destroy(): Promise<void> {
    this.state = "gone";
    for (const terminal of this.terminals) await terminal.end();
    await rm(this.root, { recursive: true, force: true });
  }
}
