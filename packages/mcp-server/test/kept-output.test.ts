import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, connect, textOf } from "./support/connect.js";
import { connectWasm } from "./support/connect-wasm.js";

type Result = Awaited<ReturnType<Connection["call"]>>;

function linksOf({ content }: Result): { uri: string; name: string; size?: number | undefined }[] {
  return content.flatMap((block) => (block.type === "resource_link" ? [block] : []));
}

function pathIn(result: Result, stream = "stdout"): string {
  return new RegExp(`^\\[${stream}[^\\]]*\\] (\\S+)`, "m").exec(textOf(result))?.[1] ?? "";
}

describe("output that is too long to show", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connect({ outputChars: 2_000, maxOutputBytes: 100_000, maxInputBytes: 200_000 });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const exec = (command: string) => server.call("exec", { command });

  it("lies in the sandbox byte for byte, named, linked and readable", async () => {
    const result = await exec("seq 10000; seq 20001 30000 >&2");
    const path = pathIn(result);
    expect(path).toMatch(/\/\.sandkit\/1\.stdout\.txt$/);
    expect(textOf(result)).toMatch(/\[stdout in full\] .* \(48\.9 kB\): read it by lines with read_file/);
    expect(textOf(result)).toMatch(/^\[stderr in full\] .*\/1\.stderr\.txt/m);
    expect(textOf(result)).not.toContain("files written");
    const page = textOf(await server.call("read_file", { path, offset: 5000, limit: 2 }));
    expect(page).toBe(`${path} (lines 5000-5001; for more: offset 5002)\n5000\n5001`);
    expect(textOf(await exec(`seq 10000 | cmp - '${path}' && echo same`))).toContain("same");
    const links = linksOf(result);
    expect(links).toMatchObject([{ name: "1.stdout.txt", size: 48_894 }, { name: "1.stderr.txt" }]);
    const { contents } = await server.client.readResource({ uri: links[1]?.uri ?? "" });
    expect(contents[0]).toMatchObject({ mimeType: "text/plain", text: expect.stringMatching(/^20001\n.*\n30000\n$/s) });
  });

  it("is kept for the stream that is cut, and for none that is shown whole", async () => {
    const result = await exec("seq 10000; echo short >&2");
    expect(linksOf(result)).toHaveLength(1);
    expect(textOf(result)).toMatch(/\[stderr\]\nshort\n\[stdout in full\]/);
    expect(linksOf(await exec("seq 100"))).toEqual([]);
  });

  it("above the limit has head and tail in the file, and says so", async () => {
    const result = await exec("seq 1000000");
    expect(textOf(result)).toMatch(/\[stdout, head and tail\] .* \(100 kB of 6\.89 MB\)/);
    const path = pathIn(result);
    const kept = await exec(`head -n 2 '${path}'; grep -n 'left out' '${path}'; tail -n 1 '${path}'`);
    expect(textOf(kept)).toMatch(/1\n2\n\d+:\[\.\.\. 6788896 bytes left out \.\.\.\]\n1000000$/);
  });

  it("fills no sandbox: only the latest few are kept", async () => {
    const path = pathIn(await exec("seq 10000"));
    expect(textOf(await exec(`ls '${path}'`))).toMatch(/^Exited with code 0/);
    for (let run = 0; run < 6; run++) await exec("seq 10000");
    const left = textOf(await exec("ls .sandkit"))
      .split("\n")
      .slice(2);
    expect(left).toHaveLength(6);
    expect(textOf(await exec(`ls '${path}'`))).toContain("No such file");
  });

  it("that cannot be kept fails no run", async () => {
    await using other = await connect({ outputChars: 2_000 });
    const result = await other.call("exec", { command: "echo > .sandkit; seq 10000" });
    expect(result.isError).toBeFalsy();
    expect(textOf(result)).toMatch(
      /^Exited with code 0.*\n10000\n\[stdout in full\] could not be kept .*: NOT_DIRECTORY/s,
    );
    expect(linksOf(result)).toEqual([]);
  });
});

it("of a cell lies in the sandbox too, and a value that is cut is told apart", async () => {
  await using server = await connectWasm({ outputChars: 2_000 });
  const result = await server.call("run_code", { code: "for n in range(100_000): print(n)\n'v' * 5_000" });
  expect(textOf(result)).toMatch(/left out here: see the end.*left out here: write long output to a file/s);
  const path = pathIn(result);
  expect(linksOf(result)).toMatchObject([{ name: "1.stdout.txt", size: 588_890 }]);
  const read = await server.call("run_code", { code: `sum(map(int, open(${JSON.stringify(path)})))` });
  expect(textOf(read)).toContain(String((99_999 * 100_000) / 2));
});
