import { type ChosenTemplate, type CreateOptions, chooseTemplate } from "@sandkit/core";
import { providerName, refusal } from "./errors.js";

/** What a sandbox starts from. */
export interface Start {
  /** Name or id of a snapshot at Daytona; absent with an image, and for Daytona's own default. */
  readonly snapshot?: string | undefined;
  /** An image that Daytona makes a snapshot of, with what is built on it. */
  readonly image?: string | undefined;
  /** Commands that build on the image. */
  readonly build?: readonly string[] | undefined;
}

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

/** Daytona's own default snapshot: it has Python, Node, TypeScript and pip. */
const everything = {};
const python = (version: string, ...packages: readonly string[]) => ({
  image: `python:${version}-slim-bookworm`,
  build: packages.length > 0 ? [`pip install --no-cache-dir ${packages.join(" ")}`] : [],
});
// The agent in the sandbox is in Python.
const node = (version: string) => ({
  image: `node:${version}-bookworm-slim`,
  build: ["apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*"],
});
const go = (version: string) => ({ image: `golang:${version}-bookworm` });

const known: Readonly<Record<string, Start>> = {
  python: everything,
  node: everything,
  typescript: everything,
  bash: everything,
  "python-3.10": python("3.10"),
  "python-3.11": python("3.11"),
  "python-3.12": python("3.12"),
  "python-3.13": python("3.13"),
  data: python("3.12", ...science),
  "node-20": node("20"),
  "node-22": node("22"),
  "node-24": node("24"),
  go: go("1.24"),
  "go-1.23": go("1.23"),
  "go-1.24": go("1.24"),
  rust: { image: "rust:1-bookworm" },
};

/**
 * What a create asks to start from.
 * @throws SandboxError `INVALID` with all names there are
 */
export function startOf(
  create: Pick<CreateOptions, "template" | "image" | "snapshot">,
  own: Readonly<Record<string, string>> = {},
): ChosenTemplate<Start> {
  return chooseTemplate<Start>(create, {
    provider: providerName,
    own: Object.fromEntries(Object.entries(own).map(([name, snapshot]) => [name, { snapshot }])),
    known,
    fromImage: (image) => ({ image: checkedImage(image) }),
    fromSnapshot: (snapshot) => ({ snapshot }),
    next: 'name one of your snapshots by "snapshots" of daytona(), or give an "image"',
  });
}

/** It becomes a line of a Dockerfile. */
function checkedImage(image: string): string {
  if (/^[\w.:/@-]+$/.test(image)) return image;
  throw refusal("INVALID", `image ${JSON.stringify(image)}: must be a name like python:3.12-slim`);
}
