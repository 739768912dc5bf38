import { type Capabilities, type RunCodeOptions, SandboxError } from "@sandkit/core";

/** What cells of a language need, and the template that has it with every provider that has templates of languages. */
const needs = {
  python: ["kernel.python", "python"],
  javascript: ["kernel.javascript", "node"],
  typescript: ["kernel.javascript", "node"],
  bash: ["kernel.bash", "bash"],
} as const;

/**
 * Refuses a language that this sandbox does not run. Others of the provider do: otherwise the tool would not list it.
 * @throws SandboxError `KERNEL_UNAVAILABLE`
 */
export function requireCells(language: RunCodeOptions["language"], { features }: Capabilities): void {
  if (language === undefined) return;
  const [feature, template] = needs[language];
  if (features[feature]) return;
  throw new SandboxError(
    "KERNEL_UNAVAILABLE",
    `this sandbox runs no ${language} code: make one that does with create_sandbox, template "${template}", and pass its sandbox_id`,
  );
}
