import type { GitPullOptions } from "./git-options.js";

const steps: Readonly<Record<NonNullable<GitPullOptions["strategy"]>, readonly string[]>> = {
  "ff-only": ["merge", "--ff-only", "--quiet"],
  merge: ["merge", "--no-edit", "--quiet"],
  rebase: ["rebase", "--quiet"],
};

/** How what was fetched is taken over; a conflict of contents ends with 1. */
export function pullSteps({ branch, strategy = "ff-only" }: GitPullOptions): {
  readonly args: readonly string[];
  readonly expect: readonly number[];
} {
  const from = branch === undefined ? "@{upstream}" : "FETCH_HEAD";
  return { args: [...steps[strategy], from], expect: strategy === "ff-only" ? [0] : [0, 1] };
}
