/** What the tools are called, in the order listed to clients. */
export const toolNames = [
  "run_code",
  "exec",
  "process",
  "read_file",
  "write_file",
  "create_sandbox",
  "list_sandboxes",
  "destroy_sandbox",
] as const;

/** Those that are offered only where the config names them and the provider can do what they need, by its feature. */
export const optionalTools = { expose_port: "ports", snapshot: "snapshot" } as const;

export type OptionalTool = keyof typeof optionalTools;

/** What the optional ones are called, in the order listed to clients. */
export const optionalToolNames = Object.keys(optionalTools) as OptionalTool[];
