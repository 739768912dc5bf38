import { refusal } from "../errors.js";
import { parseRequirement, type Requirement } from "./requirement.js";

/** @throws SandboxError `INVALID` naming the one that is none */
export function parseRequirements(texts: readonly string[]): Requirement[] {
  return texts.map((text) => {
    try {
      return parseRequirement(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw refusal("INVALID", `package ${JSON.stringify(text)}: ${error.message}`, "packages");
    }
  });
}
