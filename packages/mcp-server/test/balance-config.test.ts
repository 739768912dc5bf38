import { expect, it } from "vitest";
import { connect, recordOf, textOf } from "./support/connect.js";

const local = { provider: "local-provider" };

it("several providers are one by a config: the ids of sandboxes say where they are", async () => {
  await using server = await connect({
    provider: "balance",
    options: { backends: { main: { ...local, options: { python: "/nonexistent/python3" } }, spare: local } },
  });
  const ran = await server.call("exec", { command: "echo one > file.txt; echo ran" });
  expect(textOf(ran)).toContain("ran");
  const id = String(recordOf(ran).sandbox);
  expect(id).toMatch(/^spare\./);
  expect(textOf(await server.call("read_file", { path: "file.txt", sandbox_id: id }))).toContain("one");
  const link = ran.content.find((block) => block.type === "resource_link");
  const { contents } = await server.client.readResource({ uri: link?.type === "resource_link" ? link.uri : "" });
  expect(contents[0]).toMatchObject({ text: "one\n" });
});

it("says where in the config a backend's options are wrong", async () => {
  const wrong = { ...local, options: { pythn: "python3" } };
  await using server = await connect({ provider: "balance", options: { backends: { main: wrong } } });
  expect(textOf(await server.call("exec", { command: "true" }))).toContain("options.backends.main.options: ");
  await using none = await connect({ provider: "balance" });
  expect(textOf(await none.call("exec", { command: "true" }))).toContain(
    'config for provider "balance": options.backends',
  );
  await using slow = await connect({ provider: "balance", options: { backends: { main: local }, recheckMs: 1e8 } });
  expect(textOf(await slow.call("exec", { command: "true" }))).toContain("options.recheckMs: ");
});
