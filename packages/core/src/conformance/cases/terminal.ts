import { strict as assert } from "node:assert";
import { eventually, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** Under which user and on what terminal a command runs. */
export const terminalCases: readonly ConformanceCase[] = [
  {
    id: "exec.no-terminal",
    title: "without a pty a command has no terminal",
    needs: ["exec.argv"],
    programs: ["terminal"],
    async run({ shared, program }) {
      assert.equal((await shared.exec(program("terminal"))).stdout.text, "no");
    },
  },
  {
    id: "exec.pty",
    title: "with a pty a process has a terminal whose size can be changed",
    needs: ["exec.pty", "exec.argv", "process.background"],
    programs: ["terminal"],
    async run({ shared, program }) {
      const process = await shared.spawn(program("terminal"), { pty: { columns: 80, rows: 24 } });
      await process.resize({ columns: 100, rows: 30 });
      const result = await within(10_000, "the process", process.wait());
      assert.ok(result.stdout.text.includes("yes"), result.stdout.text);
      if (!(await shared.info()).interpreters.includes("python3")) return;
      const sizes = "import os; [print(input(), *os.get_terminal_size(), flush=True) for _ in range(2)]";
      const measuring = await shared.spawn(["python3", "-c", sizes], { pty: { columns: 80, rows: 24 } });
      await measuring.write("first\n");
      await eventually("the first size", () => measuring.captured().stdout.text.includes("first 80 24"));
      await measuring.resize({ columns: 100, rows: 30 });
      await measuring.write("second\n");
      const { stdout } = await within(10_000, "the process", measuring.wait());
      assert.ok(stdout.text.includes("second 100 30"), stdout.text);
    },
  },
  {
    id: "exec.user",
    title: "a command runs under the user asked for",
    needs: ["exec.user", "exec.argv"],
    programs: ["user"],
    async run({ shared, program }) {
      const asked = (await shared.exec(program("user"), { user: "nobody" })).orThrow().stdout.text;
      const usual = (await shared.exec(program("user"))).orThrow().stdout.text;
      assert.notEqual(asked.trim(), usual.trim());
      assert.notEqual(asked.trim(), "0");
    },
  },
];
