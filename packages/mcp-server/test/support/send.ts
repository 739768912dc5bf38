import { type IncomingHttpHeaders, request } from "node:http";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Sending {
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
}

/** A request as it goes over the wire: fetch would not let a client lie about its host. */
export function send(url: string, headers: Record<string, string> = {}, options: Sending = {}): Promise<Reply> {
  const { hostname, port, pathname } = new URL(url);
  const { path = pathname, method = "POST", body = "" } = options;
  return new Promise<Reply>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Headers of a client that speaks JSON-RPC over HTTP. */
export const jsonRpc = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };

/** The smallest call that needs no sandbox. */
export const listTools = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
