import { declarationMutants } from "./declaration.js";
import { fileMutants } from "./files.js";
import { killMutants } from "./kill.js";
import { lifecycleMutants } from "./lifecycle.js";
import type { Mutant } from "./mutant.js";
import { outputMutants } from "./output.js";
import { resultMutants } from "./result.js";
import { startMutants } from "./start.js";
import { stdinMutants } from "./stdin.js";

/** Every seeded defect. */
export const mutants: readonly Mutant[] = [
  ...declarationMutants,
  ...lifecycleMutants,
  ...startMutants,
  ...stdinMutants,
  ...outputMutants,
  ...resultMutants,
  ...killMutants,
  ...fileMutants,
];
