import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sandkit } from "./sandkit.js";

const server = createServer((_request, response) => response.end("hello"));
let host = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const code = () => `import urllib.request; print(urllib.request.urlopen("http://${host}/").read().decode())`;

it("sandkit run --allow lets a program ask the hosts that it names", async () => {
  const outcome = await sandkit(["run", "--allow", "example.com", "--allow", host, "-e", code()]);
  expect(outcome).toMatchObject({ code: 0, stdout: "hello\n", stderr: "" });
});

it("without --allow it asks nobody, and a wrong host is told before anything runs", async () => {
  const closed = await sandkit(["run", "-e", code()]);
  expect([closed.code, closed.stdout]).toEqual([1, ""]);
  expect(closed.stderr).toContain("this sandbox has no network");
  const wrong = await sandkit(["run", "--allow", "https://example.com", "-e", code()]);
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toContain('"https://example.com"');
});
