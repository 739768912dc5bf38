import {
  AllowList,
  atFirstUse,
  type CreateOptions,
  defineProvider,
  messageOf,
  type Provider,
  parseOptions,
  pythonEntries,
  workingLater,
} from "@sandkit/core";
import { wasmCapabilities } from "./capabilities.js";
import { providerName, refusal } from "./errors.js";
import { optionsSchema, type WasmOptions } from "./options.js";
import { parseRequirements } from "./packages/parse-requirements.js";

/** One kind of sandbox, which has all of them. */
const templates = ["python", "python-3.14", "javascript", "typescript"];

/**
 * Python, JavaScript and a shell in WebAssembly on this machine: each sandbox is a child process without environment,
 * files or processes of its own, whose memory holds the sandbox's files. Needs nothing but Node.
 * @throws SandboxError `INVALID` for options that are none
 */
export function wasm(options: WasmOptions = {}): Provider {
  const about = { provider: providerName, operation: "wasm", what: "options of wasm()" };
  const parsed = parseOptions(optionsSchema, options, about);
  const capabilities = wasmCapabilities(parsed.maxConcurrentExec);
  const work = atFirstUse(async () => (await import("./work.js")).work(parsed, capabilities));
  // Fills the pool. What is wrong, the first create says.
  if (parsed.pool) work.get().catch(() => undefined);
  return defineProvider({ name: providerName, capabilities, validate, ...workingLater(work) });
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
