import { spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { providerNames } from "@sandkit/mcp-server/choose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { atTerminal } from "./at-terminal.js";
import { bin, sandkit } from "./sandkit.js";

/** What the last word can become; of options the value after `=` as Bash has it. */
async function completed(words: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await sandkit(["completion", "bash", "--", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t", 1)[0] ?? ""]));
}

it.each([
  [["r"], ["run", "rm"]],
  [["run", "--e"], ["--eval"]],
  [["run", "--json", "--js"], []],
  [["run", "--label", "a=b", "--lab"], ["--label"]],
  [["run", "--language", "py"], ["python"]],
  [["run", "--language=py"], ["--language=python"]],
  [["run", "--language", "=", "py"], ["python"]],
  [["run", "--provider", "="], providerNames],
  [["run", "-e", "--j"], []],
  [["run", "x.py", "--", "--j"], []],
  [["exec", "-e", "A=b", "work", "--j"], []],
  [["mcp", "g"], ["grant"]],
  [["mcp", "grant", ""], []],
  [["doctor", "wasm", ""], providerNames.filter((name) => name !== "wasm")],
  [["help", "comp"], ["completion"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["nothing", ""], []],
])("%j can become %j", async (words, candidates) => {
  expect(await completed(words)).toEqual(candidates);
});

const setUps = {
  bash: ["bash --norc --noprofile -i", "source <(sandkit completion bash)"],
  zsh: ["zsh -f -i", "autoload -U compinit && compinit -D && source <(sandkit completion zsh)"],
  fish: ["fish --no-config -i", "sandkit completion fish | source"],
} as const;

for (const [shell, [command, setUp]] of Object.entries(setUps)) {
  describe.skipIf(spawnSync(shell, ["-c", "exit"]).status !== 0)(`in ${shell}`, { timeout: 60_000 }, () => {
    let folder = "";
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "sandkit-completion-"));
      await symlink(bin, join(folder, "sandkit"));
    });
    afterAll(() => rm(folder, { recursive: true }));
    const open = () =>
      atTerminal(command.split(" "), { PATH: `${folder}:${process.env.PATH}`, HOME: folder, TERM: "dumb" });

    it("the Tab key completes a command, an option and its value", async () => {
      const { shows, types } = open();
      types(`${setUp}; echo set''-up\r`);
      await shows("set-up");
      types("sandkit doc\t");
      await shows("doctor");
      types("\u0015sandkit run --provider=doc\t");
      await shows("docker");
      types("--lang\t");
      await shows("--language");
    });
  });
}
