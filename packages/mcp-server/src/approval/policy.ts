import * as z from "zod";
import { optionalToolNames, toolNames } from "../tool-names.js";

const names: readonly string[] = [...toolNames, ...optionalToolNames];

const pattern = z
  .string()
  .refine(
    (text) => names.some((name) => matches(text, name)),
    `matches no tool, so that nothing would be asked about: the tools are ${names.join(", ")}; * stands for any letters`,
  );

/** The key `approval` of the config. */
export const approvalPolicy = z.union([z.enum(["never", "always", "on-write"]), z.array(pattern).min(1)], {
  error: 'must be "never", "always", "on-write" or a list of tools such as ["exec", "write_*"]',
});

export type ApprovalPolicy = z.infer<typeof approvalPolicy>;

/** Whether a person is asked before a call; `changes` tells a call that does more than look. */
export function isAsked(policy: ApprovalPolicy, tool: string, changes: boolean): boolean {
  if (typeof policy === "object") return policy.some((text) => matches(text, tool));
  return policy === "always" || (policy === "on-write" && changes);
}

function matches(text: string, name: string): boolean {
  if (!/^[a-z_*]+$/.test(text)) return false;
  return new RegExp(`^${text.replaceAll("*", "[a-z_]*")}$`).test(name);
}
