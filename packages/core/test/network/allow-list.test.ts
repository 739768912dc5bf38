import { describe, expect, it } from "vitest";
import { AllowList } from "../../src/network/allow-list.js";
import { targetOf } from "../../src/network/target.js";

const scope = (entries: readonly string[], url: string) => new AllowList(entries).scopeOf(targetOf(new URL(url)));

describe("an allow-list", () => {
  const cases: readonly [entries: readonly string[], url: string, scope: string | undefined][] = [
    [["example.com"], "https://example.com/x", "public"],
    [["example.com"], "http://EXAMPLE.com:80/", "public"],
    [["Example.COM"], "https://example.com/", "public"],
    [["example.com"], "https://example.com:8443/", undefined],
    [["example.com"], "https://api.example.com/", undefined],
    [["example.com"], "https://notexample.com/", undefined],
    [["example.com"], "https://example.com.evil.org/", undefined],
    [["example.com"], "https://evil.org/?example.com", undefined],
    [["example.com:8443"], "https://example.com:8443/", "public"],
    [["example.com:8443"], "https://example.com/", undefined],
    [["*.example.com"], "https://a.b.example.com/", "public"],
    [["*.example.com"], "https://example.com/", undefined],
    [["*.example.com"], "https://badexample.com/", undefined],
    [["*.example.com:81"], "http://a.example.com:81/", "public"],
    [["*"], "https://anything.org/", "public"],
    [["*"], "https://anything.org:444/", undefined],
    [["*"], "http://1.1.1.1/", undefined],
    [["*", "*.127.0.0.1.nip.io"], "http://127.0.0.1/", undefined],
    [["*"], "http://localhost/", "public"],
    [["localhost:8080"], "http://localhost:8080/", "loopback"],
    [["*.localhost"], "http://a.localhost/", "public"],
    [["127.0.0.1:8080"], "http://127.0.0.1:8080/", "itself"],
    [["127.0.0.1:8080"], "http://127.1:8080/", "itself"],
    [["127.0.0.1:8080"], "http://127.0.0.1:8081/", undefined],
    [["127.0.0.1"], "http://[::ffff:127.0.0.1]/", undefined],
    [["[::1]:8080"], "http://[0:0:0:0:0:0:0:1]:8080/", "itself"],
    [["::1"], "http://[::1]/", "itself"],
    [["bücher.example"], "https://xn--bcher-kva.example/", "public"],
    [[], "https://example.com/", undefined],
  ];
  for (const [entries, url, expected] of cases) {
    it(`${JSON.stringify(entries)} ${expected === undefined ? "does not permit" : "permits"} ${url}`, () => {
      expect(scope(entries, url)).toBe(expected);
    });
  }

  for (const entry of [
    "",
    "https://example.com",
    "example.com/path",
    "user@example.com",
    "example.com:",
    "example.com:0",
    "example.com:65536",
    "a*.example.com",
    "*.*.example.com",
    "*.127.0.0.1",
    "**",
    "example.com.",
    "0x7f.1",
    "2130706433",
    "127.1",
    "a b",
    "a\nb",
    "[::1",
    "10.0.0.0/8",
  ]) {
    it(`refuses ${JSON.stringify(entry)} by its name`, () => {
      expect(() => new AllowList([entry])).toThrow(JSON.stringify(entry));
    });
  }
});
