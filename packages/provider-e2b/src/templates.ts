import type { CreateOptions } from "@sandkit/core";
import { refusal } from "./errors.js";

/** What a sandbox starts from. */
export interface StartingImage {
  /** Name or id of E2B's. */
  readonly template: string;
  /** The name that was asked for; absent when an image or a snapshot was. */
  readonly name?: string | undefined;
}

/** E2B's own templates: `base` has Python 3.11 and Node 20; the other one numpy, pandas, matplotlib and more besides. */
const templates: Readonly<Record<string, string>> = {
  python: "base",
  "python-3.11": "base",
  node: "base",
  "node-20": "base",
  bash: "base",
  data: "code-interpreter-v1",
};

const defaultTemplate = "python";

/**
 * The template of E2B that a create asks for.
 * @throws SandboxError `INVALID` with all names there are
 */
export function startingImage(create: CreateOptions, own: Readonly<Record<string, string>> = {}): StartingImage {
  const { template, image, snapshot } = create;
  if (snapshot !== undefined) {
    if ((template ?? image) === undefined) return { template: snapshot };
    throw refusal(
      "INVALID",
      'options "snapshot" and "template" or "image" exclude each other: a snapshot is the image',
    );
  }
  if (image !== undefined) return { template: image };
  const name = template ?? defaultTemplate;
  const known = lookUp(own, name) ?? lookUp(templates, name);
  if (known !== undefined) return { template: known, name };
  const names = [...new Set([...Object.keys(templates), ...Object.keys(own)])].sort().join(", ");
  throw refusal(
    "INVALID",
    `template "${name}" does not exist: there are ${names}; name one of your own by "templates" of e2b(), or give its id as "image"`,
  );
}

function lookUp(names: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined;
}
