const refuse = (): never => {
  throw Object.assign(new Error("node:http and node:https have no connections in this sandbox: use fetch"), {
    code: "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
  });
};

/** Node's `http` and `https`, whose every use says what there is instead: libraries that only could use them still load. */
export const http = {
  Agent: class Agent {},
  METHODS: ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"],
  STATUS_CODES: {},
  createServer: refuse,
  get: refuse,
  request: refuse,
};
