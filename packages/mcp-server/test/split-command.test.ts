import { describe, expect, it } from "vitest";
import { splitCommand } from "../src/split-command.js";

describe("splitCommand", () => {
  it.each([
    ["python3 main.py --n 3", ["python3", "main.py", "--n", "3"]],
    ["python3 -c 'print(\"$HOME `ls` *\")'", ["python3", "-c", 'print("$HOME `ls` *")']],
    [`python3 -c "print('a')\nprint('b')"`, ["python3", "-c", "print('a')\nprint('b')"]],
    [`python3 -c "print('a\\n')"`, ["python3", "-c", "print('a\\n')"]],
    ["cat a\\ b ''", ["cat", "a b", ""]],
    ["echo a{b [", ["echo", "a{b", "["]],
  ])("splits %j", (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });

  it.each([
    ["a | b", '"|"'],
    ["a > b", '">"'],
    ["a && b", '"&&"'],
    ["a; b", '";"'],
    ["a &", '"&"'],
    ["ls *.py", "a wildcard"],
    ["ls [ab].py", "[a-z]"],
    ["ls {a,b}", "{a,b}"],
    ["ls ~/x", "~"],
    ["echo $HOME", "the variable $HOME"],
    [`echo "$HOME"`, "the variable $HOME"],
    ["echo `id`", "command substitution"],
    [`echo "$(id)"`, "command substitution"],
    ["echo $(id)", "command substitution"],
    ["ls # all", "#"],
    ["ls\nls", "several lines"],
    ["echo 'a", "a quote that is not closed"],
    ["A=1 env", "setting a variable"],
    ["cd x", "pass cwd"],
  ])("refuses %j and teaches", (command, named) => {
    expect(() => splitCommand(command)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining(named) }),
    );
    expect(() => splitCommand(command)).toThrow(/this sandbox has no shell/);
  });
});
