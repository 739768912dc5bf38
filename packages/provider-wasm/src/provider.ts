import { type CheckResult, type CreateOptions, defineProvider, messageOf, type Provider } from "@sandkit/core";
import { AllowList, parseOptions, pythonEntries } from "@sandkit/core/plan";
import { SessionRegistry } from "@sandkit/core/kit";
import { findArtifacts, missingArtifact, pyodideVersion } from "./artifacts.js";
import { wasmCapabilities } from "./capabilities.js";
import type { SandboxChild } from "./child-process.js";
import { Children } from "./children.js";
import { providerName, refusal } from "./errors.js";
import { describeRefused, describeWall, findHardening, hardeningFix } from "./hardening/hardening.js";
import { permissionFlag } from "./node-flags.js";
import { optionsSchema, type WasmOptions } from "./options.js";
import { codeCacheDirectory } from "./own-directory.js";
import type { PackageInstaller } from "./packages/installer.js";
import { parseRequirements } from "./packages/parse-requirements.js";
import { WasmSession } from "./session.js";

/** One kind of sandbox, which has all of them. */
const templates = ["python", "python-3.14", "javascript", "typescript"];
const defaultWorkdir = "/workspace";
/** For a process that only tells its version. */
const probeMiB = 1024;
const [defaultMemoryMiB, defaultDiskMiB] = [512, 256];
const defaultMostSandboxes = 64;
const defaultMostKernels = 16;

/**
 * Python, JavaScript and a shell in WebAssembly on this machine: each sandbox is a child process without environment,
 * files or processes of its own, whose memory holds the sandbox's files. Needs nothing but Node.
 * @throws SandboxError `INVALID` for options that are none
 */
export function wasm(options: WasmOptions = {}): Provider {
  const about = { provider: providerName, operation: "wasm", what: "options of wasm()" };
  const parsed = parseOptions(optionsSchema, options, about);
  const { memoryMiB = defaultMemoryMiB, diskMiB = defaultDiskMiB } = parsed;
  const children = new Children(parsed, { memoryMiB, diskMiB, packages: [] });
  let loading: Promise<PackageInstaller> | undefined;
  const installer = () => {
    loading ??= loadInstaller(parsed.packages).catch((error: unknown) => {
      // Not for ever: what is missing may be there the next time.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const { maxSandboxes = defaultMostSandboxes, maxKernels = defaultMostKernels, maxConcurrentExec } = parsed;
  const capabilities = wasmCapabilities(maxConcurrentExec);
  const registry = new SessionRegistry(providerName, { most: maxSandboxes, option: "maxSandboxes" });
  const start = async (sandboxId: string, create: CreateOptions) => {
    const { workdir = defaultWorkdir, resources, signal, onProgress } = create;
    const requirements = pythonEntries(providerName, create.packages);
    const disk = resources?.diskMiB ?? diskMiB;
    const prepared = { requirements, network: true, diskMiB: disk, signal, onProgress };
    const packages = requirements.length > 0 ? await (await installer()).prepare(prepared) : [];
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
      installer,
      network: create.network === "packages",
      diskMiB: disk,
      autoInstall: parsed.packages?.autoInstall ?? false,
    };
    const desk = await deskFor(child, create.network);
    return new WasmSession(sandboxId, workdir, child, capabilities, create, packaging, desk, maxKernels);
  };
  return defineProvider({
    name: providerName,
    capabilities,
    validate,
    create: (create) => registry.create(create, ({ id }) => start(id, create)),
    attach: (ref) => registry.attach(ref),
    list: (list) => registry.list(list),
    check: () => check(parsed),
    close: () => children.close(),
  });
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

function validate({ template, image, resources, workdir, packages = [], network, native }: CreateOptions): void {
  if (typeof network === "object") checkAllowList(network.allow);
  parseRequirements(pythonEntries(providerName, packages));
  if (image !== undefined) {
    throw refusal("UNSUPPORTED", 'option "image": there are no images in WebAssembly: use template "python"', "create");
  }
  if (template !== undefined && !templates.includes(template)) {
    throw refusal("INVALID", `template "${template}" does not exist here: there are ${templates.join(", ")}`, "create");
  }
  if (packages.length > 0 && template !== undefined && !template.startsWith("python")) {
    const reason = `packages are of the language of the template, and of Python alone here: use template "python"`;
    throw refusal("UNSUPPORTED", `option "packages" with template "${template}": ${reason}`, "create");
  }
  if (native !== undefined) throw refusal("UNSUPPORTED", 'option "native": provider "wasm" has none', "create");
  const { memoryMiB, diskMiB } = resources ?? {};
  if (memoryMiB !== undefined && (memoryMiB < 64 || memoryMiB > 2048)) {
    throw refusal("INVALID", `resources.memoryMiB ${memoryMiB}: must be 64 to 2048`, "create");
  }
  if (diskMiB !== undefined && diskMiB > 8192) {
    throw refusal("INVALID", `resources.diskMiB ${diskMiB}: must be at most 8192`, "create");
  }
  if (workdir !== undefined && /^\/(?:lib|dev|proc)(?:\/|$)/.test(workdir)) {
    throw refusal("INVALID", `workdir "${workdir}": the interpreter keeps /lib, /dev and /proc to itself`, "create");
  }
}

function checkAllowList(allow: readonly string[]): void {
  try {
    new AllowList(allow);
  } catch (error) {
    throw refusal("INVALID", `option "network": allow ${messageOf(error)}`, "create");
  }
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
