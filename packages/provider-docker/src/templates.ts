import { refusal } from "./errors.js";
import type { FirstProgram } from "./hardening.js";

/** A named starting image. */
export interface Template {
  readonly name: string;
  readonly image: string;
  /** Lines of a Dockerfile after `FROM image`: built once on the engine, where no public image has what is promised. */
  readonly build?: readonly string[] | undefined;
  /** What the image is known to have; absent: it is looked at once. */
  readonly first?: FirstProgram | undefined;
}

const pytest = "pytest==8.4.2";
const science = [
  "numpy==2.2.6",
  "pandas==2.3.3",
  "matplotlib==3.10.7",
  "seaborn==0.13.2",
  "plotly==6.3.1",
  "sympy==1.14.0",
  "pillow==11.3.0",
  "ipython==8.37.0",
];

const python = (version: string, ...packages: readonly string[]) => ({
  image: `python:${version}-slim-bookworm`,
  // Compiled now: the root of a sandbox is read-only, so each start would compile everything again.
  build: [`RUN pip install --no-cache-dir --compile ${packages.join(" ")}`],
  first: "python" as const,
});
const node = (version: string) => ({ image: `node:${version}-bookworm-slim`, first: "node" as const });
const go = (version: string) => ({ image: `golang:${version}-bookworm` });

/** Public images by tag: an engine on another processor finds its own variant there, which a digest would exclude. */
const templates: Readonly<Record<string, Omit<Template, "name">>> = {
  python: python("3.12", pytest),
  "python-3.10": python("3.10", pytest),
  "python-3.11": python("3.11", pytest),
  "python-3.12": python("3.12", pytest),
  "python-3.13": python("3.13", pytest),
  data: python("3.12", pytest, ...science),
  node: node("22"),
  "node-20": node("20"),
  "node-22": node("22"),
  "node-24": node("24"),
  typescript: node("22"),
  go: go("1.24"),
  "go-1.23": go("1.23"),
  "go-1.24": go("1.24"),
  rust: { image: "rust:1-bookworm" },
  bash: python("3.12", pytest),
};

export const defaultTemplate = "python";

/**
 * The template of a name, with the image that the provider's options give it.
 * @throws SandboxError `INVALID` with all names there are
 */
export function findTemplate(name: string, images: Readonly<Record<string, string>> = {}): Template {
  const known = Object.hasOwn(templates, name) ? templates[name] : undefined;
  const own = Object.hasOwn(images, name) ? images[name] : undefined;
  // Whoever gives an image for Python means one that has it; the others may have more than their name says, or less.
  if (own !== undefined)
    return { name, image: own, first: known?.first === "python" && name !== "bash" ? "python" : undefined };
  if (known) return { name, ...known };
  const names = [...new Set([...Object.keys(templates), ...Object.keys(images)])].sort();
  throw refusal("INVALID", `template "${name}" does not exist: there are ${names.join(", ")}; or give an image`);
}
