import { SandboxError } from "@sandkit/core";
import {
  type CheckName,
  checkTitles,
  type OwnedProgram,
  runSecurityChecks,
  type SecurityReport,
} from "@sandkit/core/security";
import { chooseProvider } from "../choose-provider.js";
import type { Invocation } from "../command.js";
import { program } from "../program.js";
import { withProgress } from "../progress.js";
import { version } from "../version.js";
import { redact } from "./redact.js";
import { securityPage } from "./security-page.js";

/** `sandkit doctor --security`: attacks sandboxes of the named providers, or the usual one; resolves with the exit code. */
export async function attackProviders({ values, every, positionals }: Invocation): Promise<number> {
  const named = [...new Set([...positionals, ...(every.provider ?? [])])];
  const names = Object.keys(checkTitles) as CheckName[];
  const only = names.filter((name) => every.check === undefined || every.check.includes(name));
  const abort = new AbortController();
  const interrupt = () => abort.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  try {
    const reports: SecurityReport[] = [];
    for (const provider of named.length > 0 ? named : [undefined]) {
      const { provider: _, ...others } = values;
      const chosen = { ...others, ...(provider !== undefined && { provider }) };
      reports.push(await attack(chosen, only, abort.signal));
    }
    return show(reports, values.json === true);
  } catch (error) {
    if (abort.signal.aborted && !(error instanceof SandboxError && error.operation === "destroy")) return 130;
    throw error;
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
  }
}

async function attack(
  values: Invocation["values"],
  only: readonly CheckName[],
  signal: AbortSignal,
): Promise<SecurityReport> {
  const { provider, defaults } = await chooseProvider(values);
  const quiet = values.json === true || values.quiet === true;
  const owner = (owned: OwnedProgram) => ownerCommand(values, owned);
  try {
    return await withProgress(`attacking ${provider.name}`, quiet, (onProgress) =>
      runSecurityChecks({ provider, create: defaults, only, owner, onProgress, signal }),
    );
  } finally {
    await provider.close?.();
  }
}

/** This program, once more: it makes a sandbox, and waits in it to be killed. */
function ownerCommand(values: Invocation["values"], { file, args, labels }: OwnedProgram): string[] {
  const same = ["provider", "config"].flatMap((name) => {
    const value = values[name];
    return typeof value === "string" ? [`--${name}`, value] : [];
  });
  const marks = Object.entries(labels).flatMap(([key, value]) => ["--label", `${key}=${value}`]);
  return [process.execPath, program, "run", file, ...same, ...marks, "--", ...args];
}

function show(reports: readonly SecurityReport[], json: boolean): number {
  const ok = reports.every((report) => report.ok);
  const place = { sandkit: version, node: process.versions.node, platform: `${process.platform} ${process.arch}` };
  const text = json
    ? `${JSON.stringify({ ok, ...place, providers: reports })}\n`
    : reports.map((report) => securityPage(report)).join("\n");
  process.stdout.write(redact(text));
  return ok ? 0 : 1;
}
