import { describe, expect, it } from "vitest";
import { explainNpm } from "../../src/packages/explain-npm.js";
import { explainPip } from "../../src/packages/explain-pip.js";
import { packageError } from "../../src/packages/package-failure.js";

const index = "http://user:secret@127.0.0.1:5067/simple/";
const shown = "http://127.0.0.1:5067/simple/";
const looking = `Looking in indexes: ${index}\n`;

/** Words of pip 23 and 25. */
const pipSays = {
  absent: `${looking}ERROR: Could not find a version that satisfies the requirement nopkg (from versions: none)
ERROR: No matching distribution found for nopkg`,
  version: `${looking}ERROR: Could not find a version that satisfies the requirement rich==99 (from other) (from versions: 13.6.0, 13.7.0)
ERROR: No matching distribution found for rich==99`,
  conflict: `${looking}ERROR: Cannot install one==1.0 and two==1.0 because these package versions have conflicting dependencies.

The conflict is caused by:
    one 1.0 depends on leaf<2
    two 1.0 depends on leaf>=2

To fix this you could try to:
ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/`,
  unreachable: `WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7f>: Failed to establish a new connection: [Errno 111] Connection refused')': /simple/leaf/
ERROR: Could not find a version that satisfies the requirement leaf (from versions: none)
ERROR: No matching distribution found for leaf`,
  blocked: `WARNING: Retrying (Retry(total=0)) after connection broken by 'ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 evil.example is not on the list'))': /simple/leaf/
ERROR: Could not find a version that satisfies the requirement leaf (from versions: none)`,
  build: `${looking}Collecting broken
  Downloading http://127.0.0.1:5067/f/broken-1.0.tar.gz (1 kB)
  Preparing metadata (setup.py): finished with status 'error'
  error: subprocess-exited-with-error
  
  × python setup.py egg_info did not run successfully.
  │ exit code: 1
  ╰─> [6 lines of output]
      Traceback (most recent call last):
      RuntimeError: needs a compiler
      [end of output]
  
  note: This error originates from a subprocess, and is likely not a problem with pip.
error: metadata-generation-failed

× Encountered error while generating package metadata.
╰─> See above for output.`,
  space: "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
  tool: "/usr/bin/python3: No module named pip",
};

describe("what pip says", () => {
  it.each([
    ["absent", "INVALID", { package: "nopkg", index: shown }],
    ["version", "INVALID", { package: "rich==99", index: shown, said: "there are 13.6.0, 13.7.0" }],
    [
      "conflict",
      "INVALID",
      { package: "one==1.0 and two==1.0", said: expect.stringContaining("two 1.0 depends on leaf>=2") },
    ],
    ["unreachable", "UNAVAILABLE", { package: "leaf", said: "[Errno 111] Connection refused" }],
    ["blocked", "DENIED", { said: "403 evil.example is not on the list" }],
    ["build", "INVALID", { package: "broken", said: expect.stringContaining("RuntimeError: needs a compiler") }],
    ["space", "NO_SPACE", {}],
    ["tool", "UNAVAILABLE", {}],
  ] as const)("%s is %s, and which package of which index", (reason, code, facts) => {
    const verdict = explainPip(pipSays[reason]);
    expect(verdict).toMatchObject({ reason, ...facts });
    const error = packageError(verdict, ["asked"], "pip", { provider: "box" });
    expect(error).toMatchObject({ code, packageFailure: { reason } });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

const log = "npm error A complete log of this run can be found in: /tmp/.npm/_logs/x.log";

describe("what npm says", () => {
  it.each([
    [
      "absent",
      "nopkg",
      `npm error code E404\nnpm error 404 Not Found - GET http://r/nopkg - not found\nnpm error 404\nnpm error 404  'nopkg@*' is not in this registry.\n${log}`,
    ],
    ["version", "leaf@9", `npm error code ETARGET\nnpm error notarget No matching version found for leaf@9.\n${log}`],
    [
      "conflict",
      undefined,
      `npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! Found: leaf@1.0.0`,
    ],
    [
      "unreachable",
      "leaf",
      `npm error code ECONNREFUSED\nnpm error errno ECONNREFUSED\nnpm error FetchError: request to http://127.0.0.1:1/leaf failed, reason: connect ECONNREFUSED`,
    ],
    [
      "build",
      "tree",
      `npm error code 3\nnpm error path /opt/sandkit/node/node_modules/tree\nnpm error command failed\nnpm error command sh -c exit 3\nnpm error no compiler\n${log}`,
    ],
    ["space", undefined, "npm error code ENOSPC\nnpm error ENOSPC: no space left on device, write"],
    ["tool", undefined, "npm: not found"],
  ] as const)("%s, and which package", (reason, name, said) => {
    expect(explainNpm(said)).toMatchObject({ reason, ...(name !== undefined && { package: name }) });
    expect(explainNpm(said).said).not.toContain("complete log");
  });
});
