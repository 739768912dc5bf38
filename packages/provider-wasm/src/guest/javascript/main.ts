import { createBuiltins } from "./builtins.js";
import { installGlobals } from "./globals.js";
import { call, connect, type Host } from "./host.js";
import { Kernel } from "./kernel.js";
import { Modules } from "./modules.js";
import { resolve, setCwd } from "./path.js";
import { type Job, Process } from "./process.js";
import { type Driver, Program, readCommandLine } from "./program.js";
import { Requests } from "./requests.js";
import { Timers } from "./timers.js";

/** What the worker calls in the guest. */
interface Guest {
  turn(jobsWait: boolean): void;
  /** The name of the module that another asks for. */
  resolve(base: string, specifier: string): string;
  /** The source of a module, by its name. */
  source(name: string): string;
}

/** Sets the interpreter up and waits for its one job. First of all code in it, and the only one that sees the host. */
export function enter(host: Host): Guest {
  connect(host);
  const job = call<Job & { readonly kind: "kernel" | "program"; readonly cwd: string }>("job");
  setCwd(job.cwd);
  const timers = new Timers();
  const requests = new Requests();
  // Made for one another: what is missing is there before anything asks for it.
  let process: Process;
  const modules: Modules = new Modules(
    createBuiltins(
      () => process,
      timers,
      () => modules,
    ),
  );
  const line = readCommandLine(job.argv?.slice(1) ?? []);
  const listeners = {
    emit: (event: string, ...args: unknown[]) =>
      event === "signal" ? process.receive(Number(args[0])) : process.emit(event, ...args),
  };
  const driver: Driver =
    job.kind === "kernel"
      ? new Kernel(timers, requests, modules)
      : new Program(line, timers, requests, modules, () => listeners);
  const argv = line.kind === "file" ? [resolve(line.text), ...line.rest] : [...line.rest];
  process = new Process(job, job.kind === "kernel" ? [resolve("cell.cjs")] : argv, driver, timers);
  installGlobals(process, timers, requests, (error) => driver.uncaught(error));
  // Only kernels are interrupted; a program without a handler is ended from outside.
  if (job.kind === "program") call("handle", 2, "default");
  return {
    turn: (jobsWait) => driver.turn(jobsWait),
    resolve: (base, specifier) => modules.resolveName(base, specifier),
    source: (name) => modules.source(name),
  };
}
