import type { CreateOptions } from "@sandkit/core";
import { describe, expect, it } from "vitest";
import type { E2BNative, E2BOptions } from "../src/options.js";
import { planSandbox } from "../src/plan-sandbox.js";

const plan = (create: CreateOptions<E2BNative>, options: E2BOptions = {}) => planSandbox(create, options);
const everything = "0.0.0.0/0";

describe("what a sandbox starts from", () => {
  it("is a template of E2B that has what the name says", () => {
    expect(plan({}).start).toEqual({ template: "base", name: "python" });
    expect(plan({ template: "data" }).start).toEqual({ template: "code-interpreter-v1", name: "data" });
  });

  it("is the template that the options name for it", () => {
    const templates = { python: "team/python-313", go: "team/go" };
    expect(plan({}, { templates }).start).toEqual({ template: "team/python-313", name: "python" });
    expect(plan({ template: "go" }, { templates }).start).toEqual({ template: "team/go", name: "go" });
  });

  it("is an image by its own id, or a snapshot", () => {
    expect(plan({ image: "k3j9xq" }).start).toEqual({ template: "k3j9xq" });
    expect(plan({ snapshot: "team/saved" }).start).toEqual({ template: "team/saved" });
  });

  it("is INVALID by its name when nothing says what it is", () => {
    expect(() => plan({ template: "toString" })).toThrow(/template "toString" does not exist: there are .*python/);
    expect(() => plan({ template: "go" })).toThrow(/"templates" of e2b\(\)/);
    expect(() => plan({ template: "python", snapshot: "s" })).toThrow(/"snapshot" and "template"/);
  });
});

describe("what a sandbox may reach", () => {
  it("is nothing unless it is asked for", () => {
    expect(plan({}).egressAtFirst).toEqual({ allowInternetAccess: false });
    expect(plan({ network: { allow: [] } }).egressAtFirst).toEqual({ allowInternetAccess: false });
    expect(plan({ network: "full" }).egressAtFirst).toEqual({ allowInternetAccess: true });
  });

  it("is a list of hosts, addresses and ranges, and nothing beside it", () => {
    const allow = ["example.com", "*.example.org", "203.0.113.7", "198.51.100.0/24"];
    expect(plan({ network: { allow } }).egressAtFirst).toEqual({ allowOut: allow, denyOut: [everything] });
  });

  it.each([
    ["https://example.com", "INVALID"],
    ["example.com/path", "INVALID"],
    ["a*b.example.com", "INVALID"],
    ["10.0.0.0/33", "INVALID"],
    ["1.2.3", "INVALID"],
    ["", "INVALID"],
    ["example.com:443", "UNSUPPORTED"],
    ["2001:db8::1", "UNSUPPORTED"],
  ])("cannot be %j, which is %s by name", (entry, code) => {
    const wrong = () => plan({ network: { allow: ["example.com", entry] } });
    expect(wrong).toThrow(expect.objectContaining({ code, message: expect.stringContaining(JSON.stringify(entry)) }));
  });

  it("is the package indexes while packages are installed, and then what was asked for", () => {
    const found = plan({ packages: ["requests"] }, { packageHosts: ["index.example"] });
    expect(found.narrowsNetwork).toBe(true);
    expect(found.egressAtFirst).toEqual({ allowOut: ["index.example"], denyOut: [everything] });
    expect(found.egress).toEqual({ allowInternetAccess: false });
    const env = {
      PIP_INDEX_URL: "https://u:p@mirror.example:8443/simple",
      PIP_EXTRA_INDEX_URL: "http://203.0.113.9/a",
    };
    expect(plan({ packages: ["requests"], env }).egressAtFirst.allowOut).toEqual(["mirror.example", "203.0.113.9"]);
    expect(plan({ packages: ["requests"], network: "packages" }).narrowsNetwork).toBe(false);
  });
});

describe("packages", () => {
  it.each(["requests", "requests[socks, use_chardet]>=2,<3", "a.b_c == 1.0.* ; python_version < '3.12'"])(
    "may be %s",
    (entry) => {
      expect(plan({ packages: [entry] }).packages).toEqual([entry]);
    },
  );

  it.each(["== 1.0", "--index-url=http://evil", "-r/etc/passwd", "git+https://x/y", "a @ https://x/y.whl", "a\nb", ""])(
    "cannot be %j, which is INVALID by name",
    (entry) => {
      const wrong = () => plan({ packages: ["requests", entry] });
      expect(wrong).toThrow(
        expect.objectContaining({ code: "INVALID", message: expect.stringContaining(JSON.stringify(entry)) }),
      );
    },
  );

  it("of another language are UNSUPPORTED", () => {
    expect(() => plan({ template: "node", packages: ["left-pad"] })).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED" }),
    );
  });
});

it("refuses what native does not know", () => {
  const native = { volumes: {} } as E2BNative;
  expect(() => plan({ native })).toThrow(expect.objectContaining({ code: "INVALID" }));
});
