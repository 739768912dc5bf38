import { createSandbox } from "@sandkit/core";
import { docker } from "./dist/index.js";

const p = docker({
  unsafeBridge: true,
  images: { python: "sandkit/python:test", node: "sandkit/node:test" },
  packages: { indexUrl: "http://172.17.0.1:5067/simple/", npmRegistry: "http://172.17.0.1:5066/" },
});
const t = () => performance.now();
async function go(options, work) {
  const a = t();
  try {
    const s = await createSandbox(p, { ...options, onProgress: (m) => console.log("  .", m) });
    console.log("created in", Math.round(t() - a), (await s.info()).packages);
    await work?.(s);
    await s.destroy();
  } catch (e) {
    console.log("FAILED in", Math.round(t() - a), e.code, e.message, e.packageFailure, e.cause?.message);
  }
}
const sh = async (s, c) => {
  const r = await s.exec(c, { mergeStderr: true });
  console.log("$", c, "\n", r.exitCode, r.stdout.text);
};
if (process.argv[2] !== "node") {
  await go({ packages: ["rich"] }, async (s) => {
    console.log((await s.runCode("import rich, sys; print(rich.__file__); sys.path")).value);
    await sh(
      s,
      "pip list; pip install rich; pip show rich | head -3; ls -la /opt/sandkit/python /usr/local/lib/python3.11/dist-packages; which pygmentize; touch /opt/sandkit/python/x; find /opt/sandkit -name '*.pyc' | wc -l; find /opt/sandkit -name '*.py' | wc -l; python3 -v -c 'import rich.console' 2>&1 | grep -c 'code object from'; python3 -v -c 'import rich.console' 2>&1 | grep  'code object from' | grep -v pyc| head -3",
    );
  });
  for (let i = 0; i < 3; i++) {
    await go({});
    await go({ packages: ["rich"] });
  }
  await go({ packages: ["nopkg"] });
  await go({ packages: ["rich==99"] });
}
if (process.argv[2] !== "py") {
  await go({ template: "node", packages: ["tree", "leaf@2"] }, async (s) => {
    await s.files.write("a.mjs", "import t from 'tree'; import l from 'leaf'; console.log(t, l)");
    await sh(
      s,
      "node a.mjs; node -p 'require(\"leaf\")'; treecli; cd /tmp; node -p 'require(\"leaf\")'; ls -la / /opt/sandkit/node",
    );
    console.log(
      await s.runCode("const l = require('leaf'); l", { language: "javascript" }).then((r) => [r.value, r.error]),
    );
    console.log(
      await s
        .runCode("const t = await import('tree'); t.default", { language: "javascript" })
        .then((r) => [r.value, r.error]),
    );
  });
  for (let i = 0; i < 2; i++) {
    await go({ template: "node" });
    await go({ template: "node", packages: ["tree", "leaf@2"] });
  }
  await go({ template: "node", packages: ["nopkg"] });
  await go({ template: "node", packages: ["leaf@9"] });
}
