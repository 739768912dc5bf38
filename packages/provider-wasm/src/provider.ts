import {
  type CheckResult,
  type CreateOptions,
  defineProvider,
  describeIssues,
  type Provider,
  SessionRegistry,
} from "@sandkit/core";
import { findArtifacts, missingArtifact, pyodideVersion } from "./artifacts.js";
import { maxConcurrentExec, wasmCapabilities } from "./capabilities.js";
import { permissionFlag, SandboxChild } from "./child-process.js";
import { providerName, refusal } from "./errors.js";
import { optionsSchema, type WasmOptions } from "./options.js";
import type { ChildOptions } from "./protocol.js";
import { WasmSession } from "./session.js";

/** One kind of sandbox, which has all of them. */
const templates = ["python", "python-3.14", "javascript", "typescript"];
const defaultWorkdir = "/workspace";

/**
 * Python and JavaScript in WebAssembly on this machine: each sandbox is a child process without environment, files or processes of
 * its own, whose memory holds the sandbox's files. Needs nothing but Node.
 * @throws SandboxError `INVALID` for options that are none
 */
export function wasm(options: WasmOptions = {}): Provider {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) throw refusal("INVALID", `options of wasm(): ${describeIssues(parsed.error)}`, "wasm");
  const registry = new SessionRegistry(providerName);
  return defineProvider({
    name: providerName,
    capabilities: wasmCapabilities,
    validate,
    create: (create) => registry.create(create, ({ id }) => start(id, create, parsed.data)),
    attach: (ref) => registry.attach(ref),
    list: (list) => registry.list(list),
    check,
  });
}

async function start(id: string, create: CreateOptions, defaults: WasmOptions): Promise<WasmSession> {
  const artifacts = findArtifacts();
  const workdir = create.workdir ?? defaultWorkdir;
  const options: ChildOptions = {
    pyodide: artifacts.pyodide,
    quickjs: artifacts.quickjs,
    artifacts: artifacts.directory,
    memoryMiB: create.resources?.memoryMiB ?? defaults.memoryMiB ?? 512,
    diskMiB: create.resources?.diskMiB ?? defaults.diskMiB ?? 256,
    workdir,
    maxWorkers: maxConcurrentExec,
    warmWorkers: defaults.warmWorkers ?? 1,
  };
  create.onProgress?.("starting the sandbox's process");
  const child = await SandboxChild.start(artifacts, options, id, create.signal);
  return new WasmSession(id, workdir, child, create);
}

function validate({ template, image, resources, workdir, native }: CreateOptions): void {
  if (image !== undefined) {
    throw refusal("UNSUPPORTED", 'option "image": there are no images in WebAssembly: use template "python"', "create");
  }
  if (template !== undefined && !templates.includes(template)) {
    throw refusal("INVALID", `template "${template}" does not exist here: there are ${templates.join(", ")}`, "create");
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

async function check(): Promise<CheckResult> {
  const artifacts = findArtifacts();
  const missing = missingArtifact(artifacts);
  if (missing !== undefined) {
    return {
      ok: false,
      detail: `${artifacts.directory} lacks ${missing}: the package is not built`,
      fix: ["npm run build -w @sandkit/provider-wasm", "npm install @sandkit/provider-wasm"],
    };
  }
  const node = `Node ${process.versions.node} with ${permissionFlag()}`;
  return {
    ok: true,
    detail: `Pyodide ${pyodideVersion} with snapshot, ${node}; isolation: WebAssembly in a locked process`,
  };
}
