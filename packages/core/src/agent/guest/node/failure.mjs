/** Why a request failed, with the name of an errno. */
export class AgentFailure extends Error {
  name = "AgentFailure";
  constructor(code, message, path) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** What the host is told of a failure. */
export function describeFailure(error) {
  const code = typeof error?.code === "string" ? error.code : "";
  // Node refuses NUL in arguments and paths by errors of its own.
  const invalid = code === "ERR_INVALID_ARG_VALUE" || code === "ERR_OUT_OF_RANGE";
  const errno = /^E[A-Z0-9]+$/.test(code) ? code : invalid ? "EINVAL" : "EIO";
  const path = error instanceof AgentFailure ? error.path : undefined;
  return { errno, message: String(error?.message ?? error).slice(0, 4096), path };
}

/** Runs a step on one of the paths of a request; its failure says which. */
export function about(path, step) {
  try {
    return step();
  } catch (error) {
    throw new AgentFailure(describeFailure(error).errno, error.message, path);
  }
}
