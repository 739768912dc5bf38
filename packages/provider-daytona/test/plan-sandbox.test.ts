import { createSandbox } from "@sandkit/core";
import type { SandboxRecord } from "@sandkit/core/kit";
import { describe, expect, it } from "vitest";
import { DaytonaConnector } from "../src/client.js";
import { createParams } from "../src/create-params.js";
import { minutesOf } from "../src/minutes.js";
import { planSandbox } from "../src/plan-sandbox.js";
import { daytona } from "../src/provider.js";

const plan = (create: Parameters<typeof planSandbox>[0]) => planSandbox(create, {});
const refused = (code: string, ...words: string[]) =>
  expect.objectContaining({ code, message: expect.stringMatching(new RegExp(words.join(".*"))) });
const attempt = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("lifetimes", () => {
  it("are whole minutes at Daytona, rounded up and never none", () => {
    expect([1, 59_999, 60_000, 60_001, 300_000].map(minutesOf)).toEqual([1, 1, 1, 2, 5]);
  });
});

describe("resources", () => {
  it("go with an image, in processors and GiB", () => {
    const { resources } = plan({ image: "python:3.12", resources: { cpus: 2, memoryMiB: 4096, diskMiB: 10_240 } });
    expect(resources).toEqual({ cpu: 2, memory: 4, disk: 10 });
    expect(plan({ template: "python-3.12", resources: { memoryMiB: 1024 } }).resources).toEqual({ memory: 1 });
  });

  it("are UNSUPPORTED by name where a snapshot fixes them", () => {
    const outcome = attempt(() => plan({ resources: { memoryMiB: 1024 } }));
    expect(outcome).toEqual(refused("UNSUPPORTED", "resources.memoryMiB", "python-3.12"));
  });

  it("that are parts of a unit are INVALID, with what can be had", () => {
    const create = { image: "python:3.12", resources: { memoryMiB: 1500 } };
    expect(attempt(() => plan(create))).toEqual(refused("INVALID", "memoryMiB 1500", "1024 or 2048"));
    const half = { image: "python:3.12", resources: { cpus: 0.5 } };
    expect(attempt(() => plan(half))).toEqual(refused("INVALID", "cpus 0.5", "take 1"));
  });
});

describe("networks", () => {
  it("are blocked by default, and open when they are asked for", () => {
    expect(plan({}).egress).toEqual({ networkBlockAll: true });
    expect(plan({ network: "full" }).egress).toEqual({ networkBlockAll: false });
    expect(plan({ network: { allow: [] } }).egress).toEqual({ networkBlockAll: true });
  });

  it("of a list are ranges and domains", () => {
    const { egress } = plan({ network: { allow: ["example.com", "10.0.0.0/8", "*.example.org", "192.0.2.1"] } });
    expect(egress).toEqual({
      networkBlockAll: false,
      networkAllowList: "10.0.0.0/8,192.0.2.1/32",
      domainAllowList: "example.com,*.example.org",
    });
  });

  it("refuse by name what Daytona's lists cannot say", () => {
    const allow = (entry: string) => attempt(() => plan({ network: { allow: [entry] } }));
    expect(allow("example.com:443")).toEqual(refused("UNSUPPORTED", "example.com:443", "ports"));
    expect(allow("2001:db8::/32")).toEqual(refused("UNSUPPORTED", "2001:db8::/32", "IPv4"));
    for (const entry of ["https://example.com", "a*b.com", "10.0.0.0/33", "1.2.3", "a,b"]) {
      expect(allow(entry)).toEqual(refused("INVALID", "network.allow"));
    }
  });

  it("lead to the indexes as long as packages are being installed, and no longer", () => {
    const { egress, egressAtFirst } = plan({ packages: ["requests"] });
    expect(egress).toEqual({ networkBlockAll: true });
    expect(egressAtFirst.domainAllowList).toContain("pypi.org");
    const env = {
      PIP_INDEX_URL: "https://u:p@mirror.example:8443/simple",
      PIP_EXTRA_INDEX_URL: "http://203.0.113.9/a",
    };
    expect(plan({ packages: ["requests"], env }).egressAtFirst).toEqual({
      networkBlockAll: false,
      networkAllowList: "203.0.113.9/32",
      domainAllowList: "mirror.example",
    });
    const own = planSandbox({ network: "packages" }, { packageHosts: ["index.example"] });
    expect(own).toMatchObject({ egress: { domainAllowList: "index.example" }, narrowsNetwork: false });
  });
});

describe("packages", () => {
  it("are requirements, and nothing else that pip would take", () => {
    const good = [
      "requests",
      "requests[socks]>=2,<3",
      "numpy == 2.2.6",
      'tomli; python_version < "3.11"',
      "a.b-c_d~=1.0",
    ];
    expect(plan({ packages: good }).packages).toEqual(good);
    for (const bad of [
      "== 1.0",
      "--index-url=http://x",
      "-r file",
      "a @ https://x/y.whl",
      "./here",
      "a b",
      "a\nb",
      "",
    ]) {
      expect(
        attempt(() => plan({ packages: [bad] })),
        bad,
      ).toEqual(refused("INVALID", "packages"));
    }
  });
});

describe("templates", () => {
  it("are Daytona's snapshot, or images with what is built on them", () => {
    expect(plan({}).start).toEqual({ name: "python" });
    expect(plan({ template: "python-3.11" }).start).toMatchObject({ image: "python:3.11-slim-bookworm" });
    expect(planSandbox({ template: "go" }, { snapshots: { go: "our-go" } }).start).toEqual({
      snapshot: "our-go",
      name: "go",
    });
    expect(plan({ snapshot: "saved" }).start).toEqual({ snapshot: "saved" });
    expect(attempt(() => plan({ template: "cobol" }))).toEqual(refused("INVALID", "cobol", "python-3.12"));
    expect(attempt(() => plan({ snapshot: "s", image: "i" }))).toEqual(refused("INVALID", "snapshot"));
    expect(attempt(() => plan({ image: "python\nRUN evil" }))).toEqual(refused("INVALID", "image"));
  });
});

describe("a request", () => {
  const record: SandboxRecord = {
    owner: "o",
    creation: "c",
    createdAt: new Date(0),
    options: "h",
    detached: false,
    labels: { team: "a" },
  };

  it("never lets Daytona stop a sandbox for being quiet, and always lets it end", () => {
    const params = createParams(new DaytonaConnector({}).sdk, {}, plan({}), record, 61_000);
    expect(params).toMatchObject({ autoStopInterval: 0, ttlMinutes: 2, networkBlockAll: true, name: "sandkit-c" });
    expect(params.labels).toMatchObject({ sandkit: "true", "sandkit.label.team": "a", "sandkit.creation": "c" });
    expect(params).not.toHaveProperty("image");
  });

  it("has the lines that a template builds with", () => {
    const params = createParams(new DaytonaConnector({}).sdk, {}, plan({ template: "data" }), record, 1);
    if (!("image" in params) || typeof params.image === "string") throw new Error("no image");
    expect(params.image.dockerfile).toMatch(/^FROM python:3\.12-slim-bookworm\nRUN pip install .*numpy==2\.2\.6/);
  });
});

describe("daytona()", () => {
  it("refuses options that are none, by name", () => {
    expect(attempt(() => daytona({ apiUrl: "ftp://x" }))).toEqual(refused("INVALID", "apiUrl"));
    expect(attempt(() => daytona({ leaseMs: 1 }))).toEqual(refused("INVALID", "leaseMs"));
  });

  it("refuses what cannot be honoured before anything is asked of Daytona", async () => {
    const nowhere = daytona({ apiKey: "k", apiUrl: "http://127.0.0.1:9" });
    const outcomes = [
      createSandbox(nowhere, { resources: { pids: 5 } }),
      createSandbox(nowhere, { native: { nothing: 1 } as never }),
    ].map((creation) => creation.catch((error) => error.code));
    expect(await Promise.all(outcomes)).toEqual(["UNSUPPORTED", "INVALID"]);
  });
});
