// npm run conformance [-- SCENARIO]: the official conformance suite against our server, by the requirements of both
// protocol eras, and a smoke test with the official inspector. Both need Node 22; the server runs on the Node at hand.
// Where a container engine answers, the inspector calls a server over it too; the suite does with SANDKIT_TEST_ALL=1.
// Of the inspector only its command line is installed: `overrides` of package.json leave out what its web pages need.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureEngine } from "./engine.mjs";
import { lineOf, nodeOf, nodeVersions } from "./node-of.mjs";
import { root, runCommand } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

const eras = ["2025-11-25", "2026-07-28"];
const [only] = process.argv.slice(2);
const fixture = `${root}packages/mcp-server/test/conformance`;
/** @type {Record<string, Record<string, string>>} */
const expected = JSON.parse(readFileSync(`${fixture}/expected-failures.json`, "utf8"));

await setUp({ types: false });
const node = await nodeOf(nodeVersions.find((version) => lineOf(version) === "22") ?? "");
const results = mkdtempSync(join(tmpdir(), "sandkit-conformance-"));
try {
  const problems = await examine("wasm", {}, true);
  const { env, skipped } = await ensureEngine(["packages/mcp-server/test/python-client.test.ts"]);
  if (skipped) process.stderr.write(`SKIPPED  ${skipped}\n`);
  else {
    const docker = { provider: "docker", options: { images: { python: imageIn(env) }, pull: "never" } };
    problems.push(...(await examine("docker", docker, process.env.SANDKIT_TEST_ALL === "1")));
  }
  for (const problem of problems) process.stdout.write(`FAILED  ${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  rmSync(results, { recursive: true, force: true });
}

/** @param {Record<string, string>} env */
function imageIn({ SANDKIT_TEST_IMAGE_PYTHON: made }) {
  return process.env.SANDKIT_TEST_IMAGE_PYTHON ?? made;
}

/**
 * Serves by a config, and tells what is wrong with it.
 * @param {string} provider
 * @param {object} config
 * @param {boolean} all The suite too, beside the inspector.
 */
async function examine(provider, config, all) {
  const server = spawn(process.execPath, [`${fixture}/serve.mjs`, JSON.stringify(config)], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, LOG_LEVEL: "silent" },
  });
  try {
    const [line] = await once(server.stdout, "data");
    const url = String(line).trim();
    const suites = all ? eras.map((era) => conform(era, url, join(results, provider, era))) : [];
    const problems = [...(await Promise.all(suites)), await inspect(url)].flat();
    return problems.map((problem) => `${provider}: ${problem}`);
  } finally {
    server.stdin.end();
    await once(server, "close");
  }
}

/**
 * Runs what an era requires and what the suite has beside that; all of it passes, or fails as expected.
 * @param {string} era
 * @param {string} url
 * @param {string} folder For what it reports.
 */
async function conform(era, url, folder) {
  const chosen = only ? ["--scenario", only, "--spec-version", era] : ["--requirements", era];
  const suite = `${root}node_modules/@modelcontextprotocol/conformance/dist/index.js`;
  const { code, output } = await runCommand([node, suite, "server", "--url", url, ...chosen, "-o", folder]);
  const scenarios = readScenarios(folder);
  if (only && code === 0 && scenarios.length === 0) {
    process.stdout.write(`${era}: it has no scenario ${only}\n`);
    return [];
  }
  const failed = scenarios.filter(({ failures }) => failures.length > 0);
  const known = expected[era] ?? {};
  const unexpected = failed.filter(({ name }) => !(name in known));
  const problems = unexpected.map(({ name, failures }) => `${era} ${name}\n        ${failures.join("\n        ")}`);
  if (!only) {
    const stale = Object.keys(known).filter((name) => !failed.some((scenario) => scenario.name === name));
    problems.push(...stale.map((name) => `${era} ${name} passes: remove it from expected-failures.json`));
  }
  // It may have failed before it wrote any result.
  if (scenarios.length === 0 || (code !== 0 && failed.length === 0))
    problems.push(`${era}: exit code ${code}\n${output}`);
  const checks = scenarios.reduce((sum, { passed }) => sum + passed, 0);
  const listed = failed.length - unexpected.length;
  process.stdout.write(`${era}: ${scenarios.length} scenarios, ${checks} checks passed, ${listed} fail as expected\n`);
  return problems;
}

/**
 * @param {string} folder
 * @returns {{ name: string, passed: number, failures: string[] }[]}
 */
function readScenarios(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((entry) => {
    /** @type {{ id: string, status: string, errorMessage?: string }[]} */
    const checks = JSON.parse(readFileSync(join(folder, entry, "checks.json"), "utf8"));
    return {
      name: entry.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ""),
      passed: checks.filter(({ status }) => status === "SUCCESS").length,
      failures: checks
        .filter(({ status }) => status === "FAILURE")
        .map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ""}`),
    };
  });
}

/**
 * The inspector's command line lists tools over stdio, with a look at their schemas, and calls one over HTTP.
 * @param {string} url
 */
async function inspect(url) {
  if (only) return [];
  const cli = `${root}packages/mcp-server/dist/start/cli.js`;
  const program = `${root}node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
  /** @type {[string[], RegExp][]} */
  const calls = [
    [[process.execPath, cli, "--method", "tools/list", "--strict"], /"name":"run_code"/],
    [[url, "--method", "tools/call", "--tool-name", "run_code", "--tool-arg", "code=6*7"], /\[value\]\\n42/],
  ];
  const problems = await Promise.all(
    calls.map(async ([args, wanted]) => {
      const { code, output } = await runCommand([node, program, "--cli", ...args, "--format", "json"]);
      return code === 0 && wanted.test(output) ? [] : [`inspector ${args.join(" ")}: exit code ${code}\n${output}`];
    }),
  );
  process.stdout.write(`inspector: ${calls.length} calls\n`);
  return problems.flat();
}
