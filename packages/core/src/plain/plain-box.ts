import { type Capabilities, capabilities } from "../capabilities.js";
import { SandboxError } from "../errors.js";
import type { ProviderFiles, ProviderProcess, SpawnOptions } from "../provider.js";
import { Slots } from "../slots.js";
import type { StageFile } from "../staged-file.js";
import { runGuest } from "./guest-run.js";
import { plainFiles } from "./plain-files.js";
import type { PlainPlace } from "./plain-place.js";
import { PlainProcess } from "./plain-process.js";
import { plainStage } from "./stage-file.js";

/** Programs that are being started at one time; engines have stalled with more. */
const startsAtOneTime = 8;
/** Found like an interpreter, and told as a feature. */
const git = "git";
const shells: ReadonlySet<string> = new Set(["sh", "bash", "zsh", "fish"]);

/** What a plain box is opened with. */
export interface PlainBoxOptions {
  /** What the backend may be able to do; narrowed to what a box without an agent can. */
  readonly capabilities: Capabilities;
  readonly workdir: string;
  /** Of the programs, over that of the box; their `PATH` is in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Made when missing. */
  readonly directories: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** A box with neither Python nor Node: each command is a program that the backend starts, each operation on files too. */
export class PlainBox {
  readonly capabilities: Capabilities;
  readonly files: ProviderFiles;
  /** For files that are filled by another way than the shell's. */
  readonly stage: StageFile;
  readonly shells: readonly string[];
  readonly interpreters: readonly string[];
  readonly #place: PlainPlace;
  readonly #options: PlainBoxOptions;
  readonly #slots = new Slots(startsAtOneTime);
  readonly #processes = new Map<string, PlainProcess>();
  #failure: SandboxError | undefined;

  /** @throws SandboxError `UNAVAILABLE` when the image's tools are not enough, `SANDBOX_LOST`; or `signal.reason` */
  static async open(place: PlainPlace, options: PlainBoxOptions): Promise<PlainBox> {
    return new PlainBox(place, options, await lookAround(place, options));
  }

  private constructor(place: PlainPlace, options: PlainBoxOptions, found: readonly string[]) {
    this.#place = place;
    this.#options = options;
    this.shells = found.filter((name) => shells.has(name));
    this.interpreters = found.filter((name) => !shells.has(name) && name !== git);
    this.capabilities = plainCapabilities(options.capabilities, found.includes(git));
    this.files = plainFiles(place);
    this.stage = plainStage(place);
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    if (this.#failure) throw this.#failure;
    const { workdir, env } = this.#options;
    refuseUnfit(command, options, this.#place);
    const placed = { ...options, cwd: options.cwd ?? workdir, env: { ...env, ...options.env } };
    const start = () => PlainProcess.start(this.#place, command, placed);
    const process = await this.#slots.run(options.signal, start);
    this.#processes.set(process.id, process);
    const forget = () => this.#processes.delete(process.id);
    process.gone.then(forget, forget);
    if (this.#failure) process.abandon(this.#failure);
    return process;
  }

  /** One that this client has started, and that has not gone. */
  process(id: string): ProviderProcess | null {
    return this.#processes.get(id) ?? null;
  }

  /** Nothing of it is reached any more: whoever waits is told why. */
  abandon(failure: SandboxError): void {
    this.#failure ??= failure;
    for (const process of this.#processes.values()) process.abandon(this.#failure);
  }
}

/** Makes the directories that tools expect and finds out what there is. */
async function lookAround(place: PlainPlace, { directories, signal }: PlainBoxOptions): Promise<string[]> {
  const { stdout, stderr } = await runGuest(place, "look", directories);
  signal?.throwIfAborted();
  const found = stdout.toString("utf8").split("\n").filter(Boolean);
  if (found.length > 0) return found;
  const { provider, sandboxId } = place;
  const message = `the image's shell cannot make the directories of a sandbox: ${stderr.trim()}`;
  throw new SandboxError("UNAVAILABLE", message, { provider, operation: "create", sandboxId });
}

/** Less what an agent would give and a backend does not, and what the image lacks. */
function plainCapabilities({ isolation, features, limits }: Capabilities, hasGit: boolean): Capabilities {
  return capabilities({
    isolation,
    limits,
    features: {
      ...features,
      "exec.killTree": "emulated",
      "exec.pty": false,
      "exec.user": false,
      "files.stream": "emulated",
      "files.watch": false,
      "kernel.python": false,
      "kernel.javascript": false,
      "kernel.bash": false,
      "kernel.interrupt": false,
      git: hasGit && features.git,
    },
  });
}

function refuseUnfit(command: readonly string[], options: SpawnOptions, { provider, sandboxId }: PlainPlace): void {
  const details = { provider, operation: "exec", sandboxId };
  if (options.user !== undefined || options.pty !== undefined) {
    const what = options.user !== undefined ? "user" : "pty";
    throw new SandboxError("UNSUPPORTED", `exec option "${what}" needs python3 or node in the image`, details);
  }
  const texts = [...command, ...Object.values(options.env ?? {})];
  if (texts.some((text) => /\p{Surrogate}/u.test(text))) {
    throw new SandboxError("INVALID", "exec: an argument has half a character, which no program can take", details);
  }
}
