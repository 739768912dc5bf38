import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";

/** What a vendor's machines can start from. */
export interface TemplateTable<Start> {
  readonly provider: string;
  /** Names that the provider's options give a meaning; they go before the others. */
  readonly own: Readonly<Record<string, Start>>;
  readonly known: Readonly<Record<string, Start>>;
  fromImage(image: string): Start;
  fromSnapshot(snapshot: string): Start;
  /** What to do about a name that says nothing here. */
  readonly next: string;
}

/** The first thing that a machine has, and the name that was asked for; that is absent when an image or a snapshot was. */
export type ChosenTemplate<Start> = Start & { readonly name?: string | undefined };

const defaultTemplate = "python";

/**
 * What a create asks to start from.
 * @throws SandboxError `INVALID` with all names there are
 */
export function chooseTemplate<Start extends object>(
  { template, image, snapshot }: Pick<CreateOptions, "template" | "image" | "snapshot">,
  { provider, own, known, fromImage, fromSnapshot, next }: TemplateTable<Start>,
): ChosenTemplate<Start> {
  const invalid = (message: string) => new SandboxError("INVALID", message, { provider, operation: "create" });
  if (snapshot !== undefined) {
    if ((template ?? image) === undefined) return fromSnapshot(snapshot);
    throw invalid('options "snapshot" and "template" or "image" exclude each other: a snapshot is the image');
  }
  if (image !== undefined) return fromImage(image);
  const name = template ?? defaultTemplate;
  const found = lookUp(own, name) ?? lookUp(known, name);
  if (found) return { ...found, name };
  const names = [...new Set([...Object.keys(known), ...Object.keys(own)])].sort().join(", ");
  throw invalid(`template "${name}" does not exist: there are ${names}; ${next}`);
}

function lookUp<Start>(names: Readonly<Record<string, Start>>, name: string): Start | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined;
}
