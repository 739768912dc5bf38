import { isDeepStrictEqual } from "node:util";
import { requireFeature } from "../capabilities.js";
import { SandboxError } from "../errors.js";
import type { KernelRequest } from "../options.js";
import { resolvePath } from "../paths.js";
import type { KernelLanguage, ProviderSession } from "../provider.js";
import type { Abandon } from "../tree-killer.js";
import { Kernel } from "./kernel.js";

/** What the kernels of a sandbox need to know of it. */
export interface KernelsOwner {
  readonly session: ProviderSession;
  /** Asks for approval of a cell; absent where nobody is asked. @throws SandboxError `DENIED` */
  readonly approve?: ((code: string, language: KernelLanguage) => Promise<void>) | undefined;
  readonly abandon: Abandon;
}

/** The kernels of one sandbox by their id. That of the default kernel of a language is the name of the language. */
export class Kernels {
  readonly #owner: KernelsOwner;
  readonly #known = new Map<string, { readonly kernel: Kernel; readonly request: KernelRequest }>();

  constructor(owner: KernelsOwner) {
    this.#owner = owner;
  }

  /** The existing kernel of an id, or a new one that has started. */
  async open(request: KernelRequest): Promise<Kernel> {
    const known = request.id === undefined ? undefined : this.#known.get(request.id);
    if (known) {
      this.#requireSame(known.kernel.id, known.request, request);
      return known.kernel;
    }
    const kernel = this.#make(request);
    try {
      await kernel.start();
    } catch (error) {
      this.#known.delete(kernel.id);
      throw error;
    }
    return kernel;
  }

  /** The kernel that a cell asks for: by its id, or the default one of a language. */
  find(id: string | undefined, language: KernelLanguage | undefined): Kernel {
    const wanted = id ?? language ?? "python";
    const known = this.#known.get(wanted);
    if (!known && id === undefined) return this.#make({ language, id: wanted });
    if (!known) {
      const message = `no kernel "${id}" in sandbox ${this.#owner.session.ref.id}: make it with sandbox.kernel`;
      throw this.#error("NOT_FOUND", "runCode", message);
    }
    const { kernel } = known;
    const asked = language ?? (id === undefined ? "python" : kernel.language);
    if (asked === kernel.language) return kernel;
    const next = "name another kernel, or leave its language out";
    throw this.#error("INVALID", "runCode", `kernel "${kernel.id}" speaks ${kernel.language}, not ${asked}: ${next}`);
  }

  #make(request: KernelRequest): Kernel {
    const { session, approve, abandon } = this.#owner;
    const { provider } = session.ref;
    const language = request.language ?? "python";
    const start = session.kernel?.bind(session);
    if (!start) {
      const message = `provider "${provider}" has no kernels, so no ${language} cells: use exec`;
      throw this.#error("UNSUPPORTED", "kernel", message);
    }
    const feature = `kernel.${language === "typescript" ? "javascript" : language}` as const;
    requireFeature({ name: provider, capabilities: session.capabilities }, feature, `language "${language}"`);
    const { env } = request;
    const cwd = request.cwd === undefined ? undefined : resolvePath(session.workdir, request.cwd, "kernel");
    const kernel = new Kernel(language, request.id, {
      provider,
      start: () => start({ language, cwd, env }),
      approve: approve && ((code) => approve(code, language)),
      abandon,
      onClose: () => this.#known.delete(kernel.id),
    });
    this.#known.set(kernel.id, { kernel, request: { language, cwd, env } });
    return kernel;
  }

  /** Options that an existing kernel cannot take on are refused, never ignored. */
  #requireSame(id: string, made: KernelRequest, asked: KernelRequest): void {
    const cwd = asked.cwd === undefined ? undefined : resolvePath(this.#owner.session.workdir, asked.cwd, "kernel");
    const differing = Object.entries({ language: asked.language, cwd, env: asked.env })
      .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, made[name as keyof typeof made]))
      .map(([name]) => `"${name}"`);
    if (differing.length === 0) return;
    const next = "leave that out, or take another id";
    throw this.#error("CONFLICT", "kernel", `kernel "${id}" lives with another ${differing.join(" and ")}: ${next}`);
  }

  #error(code: "NOT_FOUND" | "INVALID" | "UNSUPPORTED" | "CONFLICT", operation: string, message: string): SandboxError {
    const { provider, id: sandboxId } = this.#owner.session.ref;
    return new SandboxError(code, message, { provider, sandboxId, operation });
  }
}
