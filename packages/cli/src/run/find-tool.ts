import { type Provider, type Sandbox, SandboxError } from "@sandkit/core";
import type { Language } from "./languages.js";
import { knowsTemplate } from "./starting-image.js";

/**
 * The first tool of the language that the sandbox has. Looked for here, where the choice can be named: the sandbox
 * itself could only say 127.
 * @throws SandboxError `UNSUPPORTED` with what to choose instead
 */
export async function findTool(sandbox: Sandbox, language: Language, provider: Provider): Promise<string> {
  const { shells, interpreters, template } = await sandbox.info();
  const there = [...shells, ...interpreters];
  for (const tool of language.tools) if (await hasTool(sandbox, tool, language, there)) return tool;
  const what = template === undefined ? "sandbox" : `sandbox of template "${template}"`;
  const next = knowsTemplate(provider, language.template)
    ? `take --template ${language.template}, or an --image that has it`
    : "choose another --language, or a --provider that has it, such as docker";
  throw new SandboxError(
    "UNSUPPORTED",
    `the ${what} has no "${language.tools.join('" or "')}"; it has ${there.join(", ") || "no interpreter"}: ${next}`,
    { provider: provider.name, operation: "run" },
  );
}

/** Interpreters are known; a compiler is asked. */
async function hasTool(sandbox: Sandbox, tool: string, language: Language, there: readonly string[]): Promise<boolean> {
  if (language.kind === "interpreted") return there.includes(tool);
  const { exitCode } = await sandbox.exec([tool, ...language.versionArgs]);
  return exitCode === 0;
}
