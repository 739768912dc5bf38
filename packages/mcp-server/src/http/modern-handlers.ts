import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { report } from "../report.js";
import type { Served } from "./served.js";

/** Principals that are remembered at least. */
const usualMax = 1_000;

interface Handler {
  readonly handler: McpHttpHandler;
  /** Answers that are still owed; one who listens is owed one as long as that. */
  underWay: number;
}

/** The newer protocol for each principal: whoever listens hears of nobody else's changes, and takes nobody else's place. */
export class ModernHandlers {
  readonly #make: () => McpHttpHandler;
  readonly #max: number;
  /** In the order of their last use. */
  readonly #handlers = new Map<string, Handler>();

  constructor(make: () => McpHttpHandler, max = usualMax) {
    this.#make = make;
    this.#max = max;
  }

  async fetch(request: Request, { whenOver, ...options }: Served): Promise<Response> {
    const id = options.authInfo?.clientId ?? "";
    const known = this.#handlers.get(id) ?? { handler: this.#make(), underWay: 0 };
    this.#handlers.delete(id);
    this.#handlers.set(id, known);
    known.underWay += 1;
    whenOver(() => {
      known.underWay -= 1;
    });
    this.#forgetOld();
    return await known.handler.fetch(request, options);
  }

  tellChange(clientId: string, uri: string): void {
    this.#handlers.get(clientId)?.handler.notify.resourceUpdated(uri);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#handlers.values()].map(({ handler }) => handler.close()));
  }

  /** The one longest unused; whoever is owed an answer is not forgotten. */
  #forgetOld(): void {
    if (this.#handlers.size <= this.#max) return;
    const old = [...this.#handlers].find(([, { underWay }]) => underWay === 0);
    if (old === undefined) return;
    const [id, { handler }] = old;
    this.#handlers.delete(id);
    handler.close().catch((error: unknown) => report("what was held for a user could not be closed", error));
  }
}
