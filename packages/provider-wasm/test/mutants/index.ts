import { controlMutants } from "./control.js";
import type { Mutant } from "./mutant.js";
import { outputMutants } from "./output.js";
import { resultMutants } from "./result.js";
import { stateMutants } from "./state.js";

/** Every seeded defect. */
export const mutants: readonly Mutant[] = [...stateMutants, ...resultMutants, ...outputMutants, ...controlMutants];
