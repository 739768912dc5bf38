import { readFileSync } from "node:fs";
import { shippedRevenue } from "./shipped-revenue.js";

/** One call of a tool, and what its result must say. */
export interface TourCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Each must occur in the text of the result. */
  readonly expect: readonly string[];
}

/** One thing that the tour shows. */
export interface TourStep {
  readonly title: string;
  readonly calls: readonly TourCall[];
}

function runCode(code: string, expect: readonly string[], options: { readonly timeout?: number } = {}): TourCall {
  return { tool: "run_code", arguments: { code, language: "python", ...options }, expect };
}

function exec(command: string, ...expect: readonly string[]): TourCall {
  return { tool: "exec", arguments: { command }, expect };
}

function writeFile(path: string, content: string): TourCall {
  return { tool: "write_file", arguments: { path, content }, expect: [path] };
}

function editFile(path: string, oldText: string, content: string): TourCall {
  return { tool: "write_file", arguments: { path, content, old_text: oldText }, expect: [path] };
}

function readFile(path: string, ...expect: readonly string[]): TourCall {
  return { tool: "read_file", arguments: { path }, expect };
}

/** What stands below the docstring of a file's one function. */
function bodyOf(source: string): string {
  return source.slice(source.lastIndexOf('"""\n') + 4);
}

/** A file that ships beside the tour. */
function shipped(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
}

/** The steps, in order; each builds on the sandbox that the ones before have left. */
export function tourSteps(): readonly TourStep[] {
  const orders = shipped("data/orders.csv");
  const haiku = "an old silent pond\na frog jumps into the pond\nsplash! silence again — 古池\n";
  return [
    {
      title: "State stays between calls",
      calls: [
        runCode("squares = {n: n * n for n in range(10)}", []),
        runCode("print(len(squares), 'squares')\nsum(squares.values())", ["10 squares", "285"]),
      ],
    },
    {
      title: "A program over a CSV file",
      calls: [
        writeFile("orders.csv", orders),
        runCode(shipped("data/revenue_report.py"), [`${shippedRevenue(orders)} EUR`]),
        readFile("revenue.json", shippedRevenue(orders)),
      ],
    },
    {
      title: "Write code, see its test fail, fix it, see it pass",
      calls: [
        writeFile("durations.py", shipped("durations/durations.py")),
        writeFile("test_durations.py", shipped("durations/test_durations.py")),
        exec("python3 -m unittest", "Exited with code 1", "FAILED"),
        editFile(
          "durations.py",
          bodyOf(shipped("durations/durations.py")),
          bodyOf(shipped("durations/durations_fixed.py")),
        ),
        exec("python3 -m unittest", "Exited with code 0", "OK"),
      ],
    },
    {
      title: "A runaway loop is stopped, and what it found stays",
      calls: [
        runCode("seen = 0\nwhile True:\n    seen += 1", ["time limit of 1 s"], { timeout: 1 }),
        runCode("print('still here:', sum(squares.values()), seen > 0)", ["still here: 285 True"]),
      ],
    },
    {
      title: "A file written and read back",
      calls: [writeFile("notes/haiku.txt", haiku), readFile("notes/haiku.txt", "splash! silence again — 古池")],
    },
  ];
}
