import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type Connection, recordOf } from "./support/connect.js";
import { connectWasm } from "./support/connect-wasm.js";

// The transcripts on the pages are what the server says. `UPDATE_PAGES=1` writes them anew.
const folder = new URL("../../../docs/mcp/", import.meta.url);
const fence = /```json\n(\{.*?\})\n```\n(?:\n```text\n(.*?)```\n)?/gs;

type Result = Awaited<ReturnType<Connection["call"]>>;

/** Names of the page for what is different at every run. */
class Names {
  readonly #real = new Map<string, string>();
  readonly #kinds: readonly (readonly [letter: string, pattern: RegExp])[] = [
    ["p", /\bp-[0-9a-f]{12}\b/g],
    ["s", /\b[0-9a-f-]{36}\.[\w-]{12}/g],
  ];

  onPage(text: string): string {
    let shown = text;
    for (const [letter, pattern] of this.#kinds) {
      shown = shown.replaceAll(pattern, (real) => {
        for (const [name, known] of this.#real) if (known === real) return name;
        const name = `${letter}-${[...this.#real.keys()].filter((key) => key.startsWith(letter)).length + 1}`;
        this.#real.set(name, real);
        return name;
      });
    }
    return shown;
  }

  inCall(text: string): string {
    return text.replaceAll(/\b[ps]-\d+\b/g, (name) => this.#real.get(name) ?? name);
  }
}

function shown({ content }: Result): string {
  return content
    .map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "resource_link") return `<resource_link ${block.uri}>`;
      return `<${block.type}>`;
    })
    .join("\n");
}

/** Without what depends on the machine. */
function comparable(text: string): string {
  return text.replaceAll(/\b\d+(?:\.\d+)? m?s\b/g, "0 s");
}

describe.each(["tools.md", "results.md", "sandboxes.md", "approval.md"])("%s", (name) => {
  it("shows what the server answers", async () => {
    const url = new URL(name, folder);
    const page = await readFile(url, "utf8");
    const blocks = [...page.matchAll(fence)].map(([, json = "", text]) => ({ input: JSON.parse(json), json, text }));
    const settings = blocks.find(({ input }) => !("name" in input))?.input ?? {};
    await using server = await connectWasm({ options: { packages: { indexUrl: false } }, ...settings });
    // Made beforehand: the start of a sandbox is no part of what is shown.
    const first = await server.call("exec", { command: "true" });
    const names = new Names();
    let written = page;
    for (const { json, text } of blocks.filter(({ input }) => "name" in input)) {
      const { name: tool, arguments: input } = JSON.parse(names.inCall(json));
      const answer = shown(await server.call(tool, input)).replaceAll(String(recordOf(first).sandbox), "SANDBOX");
      const transcript = `${names.onPage(answer)}\n`;
      if (process.env.UPDATE_PAGES === "1") {
        const before = `\`\`\`json\n${json}\n\`\`\`\n\n\`\`\`text\n`;
        written = written.replace(`${before}${text}\`\`\``, () => `${before}${transcript}\`\`\``);
      } else {
        expect(comparable(transcript), json).toBe(comparable(text ?? ""));
      }
    }
    if (written !== page) await writeFile(url, written);
  });
});
