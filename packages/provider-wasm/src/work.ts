import {
  atFirstUse,
  type Capabilities,
  type CheckResult,
  type CreateOptions,
  type ProviderWork,
  pythonEntries,
} from "@sandkit/core";
import { SessionRegistry } from "@sandkit/core/kit";
import { findArtifacts, missingArtifact, pyodideVersion } from "./artifacts.js";
import type { SandboxChild } from "./child-process.js";
import { Children } from "./children.js";
import { providerName } from "./errors.js";
import { describeRefused, describeWall, findHardening, hardeningFix } from "./hardening/hardening.js";
import { permissionFlag } from "./node-flags.js";
import type { WasmOptions } from "./options.js";
import { codeCacheDirectory } from "./own-directory.js";
import type { PackageInstaller } from "./packages/installer.js";
import { WasmSession } from "./session.js";

const defaultWorkdir = "/workspace";
/** For a process that only tells its version. */
const probeMiB = 1024;
const [defaultMemoryMiB, defaultDiskMiB] = [512, 256];
const defaultMostSandboxes = 64;
const defaultMostKernels = 16;

/** What the provider does, loaded when it is first asked for. */
export function work(options: WasmOptions, capabilities: Capabilities): ProviderWork {
  const { memoryMiB = defaultMemoryMiB, diskMiB = defaultDiskMiB } = options;
  const { maxSandboxes = defaultMostSandboxes, maxKernels = defaultMostKernels } = options;
  const children = new Children(options, { memoryMiB, diskMiB, packages: [] });
  const installer = atFirstUse(() => loadInstaller(options.packages));
  const registry = new SessionRegistry(providerName, { most: maxSandboxes, option: "maxSandboxes" });
  const start = async (sandboxId: string, create: CreateOptions) => {
    const { workdir = defaultWorkdir, resources, signal, onProgress } = create;
    const requirements = pythonEntries(providerName, create.packages);
    const disk = resources?.diskMiB ?? diskMiB;
    const prepared = { requirements, network: true, diskMiB: disk, signal, onProgress };
    const packages = requirements.length > 0 ? await (await installer.get()).prepare(prepared) : [];
    const child = await children.take({
      sandboxId,
      memoryMiB: resources?.memoryMiB ?? memoryMiB,
      diskMiB: disk,
      packages,
      workdir,
      signal,
      onProgress,
    });
    const packaging = {
      installer: installer.get,
      network: create.network === "packages",
      diskMiB: disk,
      autoInstall: options.packages?.autoInstall ?? false,
    };
    const desk = await deskFor(child, create.network);
    return new WasmSession(sandboxId, workdir, child, capabilities, create, packaging, desk, maxKernels);
  };
  return {
    create: (create) => registry.create(create, ({ id }) => start(id, create)),
    attach: (ref) => registry.attach(ref),
    list: (list) => registry.list(list),
    reap: async () => [],
    check: () => check(options),
    close: () => children.close(),
  };
}

/** Loaded for the first sandbox with a network: it, too, brings the whole of TLS along. */
async function deskFor(child: SandboxChild, network: CreateOptions["network"]) {
  if (typeof network !== "object") return undefined;
  const { openDesk } = await import("./network/open-desk.js");
  return openDesk(child, network.allow);
}

/** Loaded when the first package is asked for: it brings the whole of TLS along. */
async function loadInstaller(options: WasmOptions["packages"]): Promise<PackageInstaller> {
  const { PackageInstaller } = await import("./packages/installer.js");
  return new PackageInstaller(options);
}

async function check({ codeCache, hardening = "auto" }: WasmOptions): Promise<CheckResult> {
  const artifacts = findArtifacts();
  const missing = missingArtifact(artifacts);
  if (missing !== undefined) {
    return {
      ok: false,
      detail: `${artifacts.directory} lacks ${missing}: the package is not built`,
      fix: ["npm run build -w @sandkit/provider-wasm", "npm install @sandkit/provider-wasm"],
    };
  }
  const directory = codeCache === false ? { refused: "by option" } : codeCacheDirectory(codeCache);
  if (codeCache && "refused" in directory) {
    return { ok: false, detail: `option "codeCache": ${directory.refused}`, fix: ["leave the option out"] };
  }
  const hardened = await findHardening(hardening, { artifacts, command: [], readable: [], dataMiB: probeMiB });
  if (hardening === "required" && !hardened.wall) {
    return { ok: false, detail: `option "hardening": ${describeRefused(hardened)}`, fix: hardeningFix };
  }
  const node = `Node ${process.versions.node} with ${permissionFlag()}`;
  const kept = "path" in directory ? `kept in ${directory.path}` : `not kept: ${directory.refused}`;
  return {
    ok: true,
    detail: `Pyodide ${pyodideVersion} with snapshot, ${node}; isolation: WebAssembly in a locked process, ${describeWall(hardened)}; compiled code ${kept}`,
  };
}
