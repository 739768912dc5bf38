import { refusal } from "../errors.js";
import { brief } from "./brief.js";
import { parseRequirement, type Requirement } from "./requirement.js";

const mostRequirements = 200;

/** @throws SandboxError `INVALID` naming the one that is none, or for too many of them */
export function parseRequirements(texts: readonly string[]): Requirement[] {
  if (texts.length > mostRequirements) {
    throw refusal("INVALID", `${texts.length} packages at once: at most ${mostRequirements} are possible`, "packages");
  }
  return texts.map((text) => {
    try {
      return parseRequirement(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw refusal("INVALID", `package ${JSON.stringify(brief(text))}: ${error.message}`, "packages");
    }
  });
}
