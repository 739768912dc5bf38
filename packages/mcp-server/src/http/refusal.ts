import type { ServerResponse } from "node:http";

/** A request that is not served: what its sender is answered. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param message What is wrong and what to do instead. */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }

  /** Ends the response with it; one that has begun is broken off. */
  answer(response: ServerResponse): void {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const headers = { "Content-Type": "application/json", Connection: "close", ...this.headers };
    response.writeHead(this.status, headers);
    response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message: this.message } }));
  }
}
