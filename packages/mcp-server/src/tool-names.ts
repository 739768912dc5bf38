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
