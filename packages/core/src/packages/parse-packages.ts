import { SandboxError } from "../errors.js";

/** What `packages` of a create asks for, by who installs it, trimmed. */
export interface AskedPackages {
  /** Requirements for pip. */
  readonly python: readonly string[];
  /** Names with versions for npm. */
  readonly node: readonly string[];
}

/** The language whose packages are meant where an entry does not say so. */
export type PackageLanguage = keyof AskedPackages;

/** As PEP 508 writes it: a name, extras, versions, a condition; no address, and nothing that begins with a dash. */
const requirement = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\s*(?:\[[a-z0-9._, \t-]*\])?\s*(?:[(<>=!~][^;@]*)?(?:;.*)?$/i;
/** A name, with its scope, and versions or a tag; no address, no folder, no alias, and nothing that begins with a dash. */
const nodePackage = /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*(?:@[\w.^~<>=*|+ -]+)?$/i;

const forms = {
  python: { form: requirement, example: "requests[socks]>=2,<3" },
  node: { form: nodePackage, example: "zod@^4" },
} as const;
const prefixes = { "pip:": "python", "npm:": "node" } as const;

/** The language of a template's packages: of Node's and TypeScript's it is Node. */
export function packageLanguageOf(template: string | undefined): PackageLanguage {
  return /^(?:node|typescript)(?:-|$)/.test(template ?? "") ? "node" : "python";
}

/**
 * Sorts the entries of `packages` by who installs them.
 * @param plain What an entry without `pip:` or `npm:` is.
 * @throws SandboxError `INVALID`, naming the one that is none
 */
export function parsePackages(
  provider: string,
  packages: readonly string[] = [],
  plain: PackageLanguage = "python",
): AskedPackages {
  const asked = { python: [] as string[], node: [] as string[] };
  for (const entry of packages) {
    const prefix = (["pip:", "npm:"] as const).find((each) => entry.trimStart().startsWith(each));
    const language = prefix ? prefixes[prefix] : plain;
    const text = entry
      .trim()
      .slice(prefix?.length ?? 0)
      .trim();
    const { form, example } = forms[language];
    if (!form.test(text) || /[\r\n\0]/.test(text)) {
      const message = `option "packages": ${JSON.stringify(entry)} is no package: write it like ${prefix ?? ""}${example}`;
      throw new SandboxError("INVALID", message, { provider, operation: "create" });
    }
    asked[language].push(text);
  }
  return asked;
}

/**
 * The entries for pip where only Python's packages can be installed, without their prefix and otherwise as they are.
 * @throws SandboxError `UNSUPPORTED` for one of npm, naming it
 */
export function pythonEntries(provider: string, packages: readonly string[] = []): readonly string[] {
  const foreign = packages.find((entry) => entry.trimStart().startsWith("npm:"));
  if (foreign === undefined) return packages.map((entry) => entry.replace(/^\s*pip:/, ""));
  const message = `option "packages": "${foreign.trim()}": provider "${provider}" installs packages of Python alone: leave it out, or choose provider "docker"`;
  throw new SandboxError("UNSUPPORTED", message, { provider, operation: "create" });
}

/**
 * {@link parsePackages} where only Python's packages can be installed.
 * @throws SandboxError `INVALID`; `UNSUPPORTED` for one of npm
 */
export function parsePythonPackages(provider: string, packages?: readonly string[]): readonly string[] {
  return parsePackages(provider, pythonEntries(provider, packages)).python;
}
