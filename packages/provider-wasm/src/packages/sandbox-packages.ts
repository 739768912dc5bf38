import type { SandboxChild } from "../child-process.js";
import type { InstalledPackages } from "../protocol.js";
import type { PackageInstaller } from "./installer.js";
import { type MarkerEnvironment, wasmEnvironment } from "./marker.js";
import { packageOfImport } from "./pyodide-lock.js";
import { normalizeName } from "./requirement.js";
import { isSameVersion } from "./version.js";
import { sitePackages } from "./wheel-layout.js";

/** A package and its version. */
export interface PackageVersion {
  /** Normalised. */
  readonly name: string;
  readonly version: string;
}

/** How packages are added to a living sandbox. */
export interface AddOptions {
  /** True: the newest that fits, also where the one that is there would do. */
  readonly upgrade?: boolean | undefined;
  /** True: what is asked for by name is unpacked anew, also where that version is there. */
  readonly reinstall?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

const what = { operation: "packages", subject: sitePackages };

/** How a sandbox may get packages. */
export interface PackageSupply {
  readonly installer: () => Promise<PackageInstaller>;
  /** False: packages come from the local directory alone. */
  readonly network: boolean;
  /** Size of the sandbox's disk. */
  readonly diskMiB: number;
}

/** The packages of one living sandbox. Changes are made one after the other. */
export class SandboxPackages {
  readonly #child: SandboxChild;
  readonly #supply: PackageSupply;
  #turn: Promise<void> = Promise.resolve();

  constructor(child: SandboxChild, supply: PackageSupply) {
    this.#child = child;
    this.#supply = supply;
  }

  /** What is there. */
  list(): Promise<InstalledPackages> {
    return this.#child.call("packages", [], what);
  }

  /** Installs what is asked for and is not there yet, and all that it needs. @returns what was installed */
  add(requirements: readonly string[], options: AddOptions = {}): Promise<PackageVersion[]> {
    const { upgrade = false, reinstall = false, signal, onProgress } = options;
    return this.#inTurn(signal, async () => {
      const { packages, warnings } = await this.list();
      for (const warning of warnings) onProgress?.(`WARNING: ${warning}`);
      const present = new Map(packages.map((each) => [each.name, each]));
      const archives = await (await this.#supply.installer()).prepare({
        requirements,
        installed: present,
        diskMiB: this.#supply.diskMiB,
        upgrade: upgrade || reinstall,
        network: this.#supply.network,
        signal,
        onProgress,
      });
      const changed = archives.filter(({ name, version }) => {
        const there = present.get(name);
        return reinstall || !there || !isSameVersion(there.version, version);
      });
      await this.#child.install(
        changed,
        changed.map(({ name }) => name),
      );
      return changed.map(({ name, version }) => ({ name, version }));
    });
  }

  /** False when it is not there. */
  remove(name: string, signal?: AbortSignal): Promise<boolean> {
    return this.#inTurn(signal, async () => {
      const change = { remove: [normalizeName(name)], archives: [] };
      return (await this.#child.call("changePackages", [change], what)).length > 0;
    });
  }

  /** What markers of requirements are about. */
  async environment(): Promise<MarkerEnvironment> {
    return wasmEnvironment((await this.#supply.installer()).lock.target.python);
  }

  /** The name of the package that is imported by this name, as far as Pyodide's makers know. */
  async packageOf(module: string): Promise<string> {
    return packageOfImport((await this.#supply.installer()).lock, module);
  }

  /** One that is aborted while it waits gives up its turn. */
  async #inTurn<Result>(signal: AbortSignal | undefined, action: () => Promise<Result>): Promise<Result> {
    const before = this.#turn;
    let over: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => {
      over = resolve;
    });
    this.#turn = before.then(() => mine);
    try {
      await unlessAborted(before, signal);
      return await action();
    } finally {
      over();
    }
  }
}

async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason);
  });
  signal?.addEventListener("abort", onAbort);
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
