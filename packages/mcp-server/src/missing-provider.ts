import { fileURLToPath } from "node:url";
import { SandboxError } from "@sandkit/core";

/** The package of the provider that was chosen is not installed: `UNAVAILABLE`. */
export class MissingProviderError extends SandboxError {
  /** The command that puts it where it is looked for. */
  readonly install: string;

  constructor(provider: string, packageName: string, cause: unknown) {
    const install = installCommand(packageName, fileURLToPath(import.meta.url));
    // A model reads this. It is told to install what is ours only: of a mistyped name anybody may have published one.
    const next = packageName.startsWith("@sandkit/")
      ? `"${install}" (or install it beside the config file)`
      : "correct its name, where wasm, docker, e2b or daytona was meant; else have whoever chose it install that package beside this one, or beside the config file";
    const message = `provider "${provider}" is not installed: ${next}, or choose the provider "wasm"`;
    super("UNAVAILABLE", message, { provider, retryable: false, cause });
    this.install = install;
  }
}

/** How a package gets beside the one that this module is part of. */
export function installCommand(packageName: string, module: string): string {
  const path = module.replaceAll("\\", "/");
  const end = path.indexOf("/node_modules/");
  if (end < 0) return `npm install ${packageName}`;
  const root = path.slice(0, end);
  // What npx keeps for later is made of its own command line.
  if (root.includes("/_npx/")) return `npx --package=sandkit --package=${packageName} -- sandkit …`;
  if (/\/(?:lib|npm)$/.test(root)) return `npm install --global ${packageName}`;
  return `npm install --prefix ${/\s/.test(root) ? JSON.stringify(root) : root} ${packageName}`;
}
