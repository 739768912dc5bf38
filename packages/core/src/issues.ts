import { en } from "zod/locales";
import type * as z from "zod/mini";

/** How problems are worded. Said at each check: zod's smaller half has no words, and what it is told once is everybody's. */
export const english = { error: en().localeError };

/** One sentence for every problem that zod found, each with the path of the value. */
export function describeIssues(error: z.core.$ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `${issue.path.join(".")}: ${issue.message}` : issue.message))
    .join("; ");
}
