import { afterAll, beforeAll, expect, it } from "vitest";
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
