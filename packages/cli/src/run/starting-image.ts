import { type CreateOptions, type Provider, SandboxError } from "@sandkit/core";
import type { Invocation } from "../command.js";
import type { Language } from "./languages.js";

/**
 * What sandboxes are made with: the image that the command line names goes before the template of the config, and that
 * before what the program's language asks for.
 */
export function withStartingImage(
  provider: Provider,
  { template: configured, ...defaults }: CreateOptions,
  values: Invocation["values"],
  language: Language,
): CreateOptions {
  const named = {
    ...(typeof values.template === "string" && { template: values.template }),
    ...(typeof values.image === "string" && { image: values.image }),
  };
  if (Object.keys(named).length > 0) return { ...defaults, ...named };
  const template = configured ?? (knowsTemplate(provider, language.template) ? language.template : undefined);
  return { ...defaults, ...(template !== undefined && { template }) };
}

/** Whether sandboxes of this provider can start from the template. */
export function knowsTemplate(provider: Provider, template: string | undefined): boolean {
  if (template === undefined) return false;
  try {
    provider.validate({ template });
    return true;
  } catch (error) {
    if (error instanceof SandboxError) return false;
    throw error;
  }
}
