import type { McpHandlerRequestOptions } from "@modelcontextprotocol/server";

/** What is known of a request beside itself: whose it is, the body of a POST, parsed, and when it is over. */
export interface Served extends McpHandlerRequestOptions {
  /** Calls back once, when the answer is given to its end or nobody waits for it any more. */
  readonly whenOver: (listener: () => void) => void;
}
