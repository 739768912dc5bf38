import { type Mutant, withCell } from "./mutant.js";

const hostFrame = '  File "/lib/host/kernel.py", line 21, in run\n    await evaluate(code)\n';

/** Values, outputs and errors that are not what the cell gave. */
export const resultMutants: readonly Mutant[] = [
  {
    id: "value-lost",
    description: "the last expression has its text alone",
    caughtBy: ["kernel.python.value"],
    mutate: (provider) => withCell(provider, ({ value: _, ...cell }) => cell),
  },
  {
    id: "value-as-text",
    description: "the value is made up from its text where JSON cannot hold it",
    caughtBy: ["kernel.python.value.other"],
    mutate: (provider) =>
      withCell(provider, (cell) => ("value" in cell ? cell : { ...cell, value: cell.outputs.at(-1)?.["text/plain"] })),
  },
  {
    id: "outputs-last",
    description: "of what a cell displays the last thing is kept",
    caughtBy: ["kernel.python.display"],
    mutate: (provider) => withCell(provider, (cell) => ({ ...cell, outputs: cell.outputs.slice(-1) })),
  },
  {
    id: "exit-code-one",
    description: "every failure has exit code 1",
    caughtBy: ["kernel.python.system-exit"],
    mutate: (provider) => withCell(provider, (cell) => ({ ...cell, exitCode: cell.exitCode && 1 })),
  },
  {
    id: "traceback-host-frames",
    description: "the traceback shows the frames of the kernel itself",
    caughtBy: ["kernel.python.exception.chained"],
    mutate: (provider) =>
      withCell(provider, (cell) => {
        if (!cell.error) return cell;
        const traceback = cell.error.traceback.replace(/^(Traceback .*\n)/m, `$1${hostFrame}`);
        return { ...cell, error: { ...cell.error, traceback } };
      }),
  },
];
