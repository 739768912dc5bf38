import { type ChosenTemplate, type CreateOptions, chooseTemplate } from "@sandkit/core";
import { providerName } from "./errors.js";

/** What a sandbox starts from. */
export interface Start {
  /** Name or id of E2B's. */
  readonly template: string;
}

/** E2B's own templates: `base` has Python 3.11 and Node 20; the other one numpy, pandas, matplotlib and more besides. */
const known: Readonly<Record<string, Start>> = startsOf({
  python: "base",
  "python-3.11": "base",
  node: "base",
  "node-20": "base",
  bash: "base",
  data: "code-interpreter-v1",
});

/**
 * The template of E2B that a create asks for.
 * @throws SandboxError `INVALID` with all names there are
 */
export function startOf(
  create: Pick<CreateOptions, "template" | "image" | "snapshot">,
  own: Readonly<Record<string, string>> = {},
): ChosenTemplate<Start> {
  return chooseTemplate<Start>(create, {
    provider: providerName,
    own: startsOf(own),
    known,
    fromImage: (template) => ({ template }),
    fromSnapshot: (template) => ({ template }),
    next: 'name one of your own by "templates" of e2b(), or give its id as "image"',
  });
}

function startsOf(templates: Readonly<Record<string, string>>): Record<string, Start> {
  return Object.fromEntries(Object.entries(templates).map(([name, template]) => [name, { template }]));
}
