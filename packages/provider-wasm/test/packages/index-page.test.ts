import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PackageInstaller } from "../../src/packages/installer.js";
import { LocalIndex } from "./local-index.js";
import { makeWheel } from "./make-wheel.js";

const index = new LocalIndex();

beforeAll(() => index.start());
afterAll(() => index.stop());

async function choose(type: string, page: string) {
  index.answer("/simple/leaf/", (_, response) => response.writeHead(200, { "content-type": type }).end(page));
  const installer = new PackageInstaller({ indexUrl: index.url, cacheDir: false }, {});
  const archives = await installer.prepare({ requirements: ["leaf"], network: true });
  return archives.map(({ filename }) => filename);
}

const wheel = index.add(makeWheel("leaf", "1.0"));
const [newer, newest, withdrawn] = ["2.0", "3.0", "4.0"].map((version) => index.add(makeWheel("leaf", version)));
const hash = ({ sha256 } = wheel) => `#sha256=${sha256}`;

it("a page of HTML may be written as people and servers write it", async () => {
  const page = `<HTML><head><meta charset=utf-8><BASE HREF='../../files/'></head><body><h1>Links</h1>
    <!-- <a href="${newer?.filename}${hash(newer)}">old</a> -->
    <a href="http://[">nothing</a> <a>nothing</a> <a href="%E0%A4%A">nothing</a>
    <A rel=internal HREF=${wheel.filename}${hash()}>leaf-1.0-py3-non..&gt;</A>
    <a href="${newest?.filename}${hash(newest)}" data-requires-python="&lt;3">leaf 3</a>
    <a data-yanked href="${withdrawn?.filename}${hash(withdrawn)}">leaf 4</a>`;
  expect(await choose("text/html; charset=utf-8", page)).toEqual(["leaf-1.0-py3-none-any.whl"]);
});

it("a page of JSON may hold addresses that are none", async () => {
  const { filename, sha256 } = wheel;
  const files = [{ filename: "leaf-9.0-py3-none-any.whl", url: "http://[" }, null, 3, { filename }];
  const good = { filename, url: `/files/${filename}`, hashes: { sha256 } };
  const page = JSON.stringify({ files: [...files, good] });
  expect(await choose("application/vnd.pypi.simple.v1+json", page)).toEqual([filename]);
});

it.each(["null", "{", "[]", '{"files": 1}'])("a page of JSON that is %s is named", async (page) => {
  await expect(choose("application/json", page)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/^package "leaf": .*\/simple\/leaf\/ is no page of an index/),
  });
});

describe("a page that is meant to occupy its reader is refused by name", () => {
  const html = "text/html";
  it.each([
    ["deep elements", html, "<b>".repeat(400_000), "more than 100 of its elements are open at once"],
    ["links that stay open", html, "<a href=x>".repeat(100_000), "more than 100 of its elements are open at once"],
    ["many links", html, `<a href="a.whl"></a>`.repeat(20_001), "it lists more than 20000 files"],
    [
      "many files",
      "application/json",
      `{"files":[${Array(20_001).fill("{}").join()}]}`,
      "it lists more than 20000 files",
    ],
    ["deep lists", "application/json", "[".repeat(4_000_000), ""],
  ])("%s", async (_, type, page, reason) => {
    await expect(choose(type, page)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(`/simple/leaf/ is no page of an index: ${reason}`),
    });
  });

  it("attributes without end", async () => {
    const names = Array.from({ length: 200_000 }, (_, number) => `a${number}`).join(" ");
    expect(await choose(html, `<a ${names}></a><a href="/files/${wheel.filename}${hash()}">leaf</a>`)).toEqual([
      wheel.filename,
    ]);
  });

  it("one that unpacks to more than a page", async () => {
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    index.answer("/simple/leaf/", (_, response) =>
      response.writeHead(200, { "content-type": html, "content-encoding": "gzip" }).end(packed),
    );
    const installer = new PackageInstaller({ indexUrl: index.url, cacheDir: false }, {});
    await expect(installer.prepare({ requirements: ["leaf"], network: true })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("larger than 8388608 bytes"),
    });
  });
});

const listed = (filename: string, url = "/files/none") => ({ filename, url, hashes: { sha256: "0".repeat(64) } });

it("of many versions the newest are looked at", async () => {
  const { filename, sha256 } = wheel;
  const others = Array.from({ length: 10_000 }, (_, number) => listed(`leaf-0.${number}-py3-none-any.whl`));
  const good = { filename, url: `/files/${filename}`, hashes: { sha256 } };
  const page = JSON.stringify({ files: [...others.slice(0, 5000), good, ...others.slice(5000)] });
  expect(await choose("application/json", page)).toEqual([filename]);
});

it("names of files are shortened in messages, and none at all where they are too long", async () => {
  const tags = (count: number) => Array(count).fill("a").join(".");
  const names = [260, 30].map((count) => `leaf-1-${tags(count)}-${tags(count)}-${tags(count)}.whl`);
  const page = JSON.stringify({ files: names.map((name) => listed(name)) });
  await expect(choose("application/json", page)).rejects.toMatchObject({
    message: expect.stringMatching(/found only leaf-1-[a.-]{93}…$/),
  });
});
