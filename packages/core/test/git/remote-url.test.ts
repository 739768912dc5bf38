import { describe, expect, it } from "vitest";
import { parseRemoteUrl, parseServer } from "../../src/git/remote-url.js";

const parse = (url: string, allowLocal = false) => parseRemoteUrl(url, "/work", allowLocal);

describe("the address of a repository", () => {
  it.each([
    ["https://github.com/acme/app.git", "https://github.com", "app"],
    ["https://GitHub.com:443/acme/app/", "https://github.com", "app"],
    ["http://[::1]:8080/a%20b.git", "http://[::1]:8080", "a b"],
    ["ssh://git@example.com:2222/acme/app.git", undefined, "app"],
    ["git@example.com:acme/app.git", undefined, "app"],
    ["example.com:app", undefined, "app"],
    ["git://example.com/app/.git", undefined, "app"],
  ])("%s is taken apart", (url, server, name) => {
    const parsed = parse(url);
    expect([parsed.server, parsed.name]).toEqual([server, name]);
  });

  it("is given to git as it was understood", () => {
    expect(parse("https://good.example\\@evil.example/x").url).toBe("https://good.example/@evil.example/x");
  });

  it.each([
    ["/srv/app.git", "/srv/app.git"],
    ["./a:b", "/work/a:b"],
    ["file:///srv/app.git", "file:///srv/app.git"],
  ])("%s is a place in the sandbox, for those who permit that", (url, place) => {
    expect(parse(url, true)).toMatchObject({ url: place });
    expect(() => parse(url)).toThrow(/allowLocal/);
  });

  it.each([
    "",
    "--upload-pack=touch x",
    "-oProxyCommand=x:y",
    "ext::sh -c x",
    "fd::17",
    "::x",
    "https://name@example.com/x",
    "https://:pass@example.com/x",
    "ssh://name:pass@example.com/x",
    "ssh://-oProxyCommand=x/y",
    "ssh://-x@example.com/y",
    "ftp://example.com/x",
    "https://exa\nmple.com/x",
    "https://",
  ])("%j is refused, with files permitted too", (url) => {
    expect(() => parse(url, true)).toThrow(expect.objectContaining({ code: "INVALID" }));
  });

  it("is told without the password that it has", () => {
    expect(() => parse("https://name:p4ss@example.com/x")).toThrow(/^(?!.*p4ss).*credentials/);
    expect(() => parse("https://name:p4ss%zz@exa mple/x")).toThrow(/^(?!.*p4ss)/);
    expect(() => parse("https://name:one@p4ss@example.com/x")).toThrow(/^(?!.*p4ss)/);
  });
});

it("takes scheme, host and port for a server, and nothing else", () => {
  expect(parseServer("https://GitHub.com/", "git.push")).toBe("https://github.com");
  for (const text of ["github.com", "https://a@b.c", "https://b.c/path", "ssh://b.c", "https://b.c?x"]) {
    expect(() => parseServer(text, "git.push")).toThrow(expect.objectContaining({ code: "INVALID" }));
  }
});
