import type { SandboxChild } from "../child-process.js";
import type { PackageInstaller } from "./installer.js";
import { packageOfImport } from "./pyodide-lock.js";
import { normalizeName } from "./requirement.js";
import { sitePackages } from "./wheel-layout.js";

/** One package that is in a sandbox. */
export interface InstalledPackage {
  /** Normalised. */
  readonly name: string;
  readonly version: string;
}

/** How packages are added to a living sandbox. */
export interface AddOptions {
  /** True: the newest that fits, also where the one that is there would do. */
  readonly upgrade?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

const what = { operation: "packages", subject: sitePackages };

/** The packages of one living sandbox. Changes are made one after the other. */
export class SandboxPackages {
  readonly #child: SandboxChild;
  readonly #installer: () => Promise<PackageInstaller>;
  readonly #network: boolean;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param network False: packages come from the local directory alone. */
  constructor(child: SandboxChild, installer: () => Promise<PackageInstaller>, network: boolean) {
    this.#child = child;
    this.#installer = installer;
    this.#network = network;
  }

  /** What is there, by name. */
  async list(): Promise<InstalledPackage[]> {
    const records = await this.#child.call("list", [sitePackages, {}], what);
    return records.flatMap(({ path }) => {
      const [, name = "", version = ""] = /\/([^/-]+)-([^/]+)\.dist-info$/.exec(path) ?? [];
      return name === "" ? [] : [{ name: normalizeName(name), version }];
    });
  }

  /** Installs what is asked for and is not there yet, and all that it needs. @returns what was installed */
  add(requirements: readonly string[], options: AddOptions = {}): Promise<InstalledPackage[]> {
    return this.#inTurn(async () => {
      const { upgrade = false, signal, onProgress } = options;
      const present = new Map((await this.list()).map(({ name, version }) => [name, { version, requires: [] }]));
      const archives = await (await this.#installer()).prepare({
        requirements,
        installed: present,
        upgrade,
        network: this.#network,
        signal,
        onProgress,
      });
      const changed = archives.filter(({ name, version }) => present.get(name)?.version !== version);
      for (const { name } of changed) if (present.has(name)) await this.#child.call("uninstall", [name], what);
      await this.#child.install(changed);
      return changed.map(({ name, version }) => ({ name, version }));
    });
  }

  /** False when it is not there. */
  remove(name: string): Promise<boolean> {
    return this.#inTurn(() => this.#child.call("uninstall", [normalizeName(name)], what));
  }

  /** The name of the package that is imported by this name, as far as Pyodide's makers know. */
  async packageOf(module: string): Promise<string> {
    return packageOfImport((await this.#installer()).lock, module);
  }

  #inTurn<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(action);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
