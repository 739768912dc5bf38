import { AgentFailure } from "./failure.mjs";
import { ProtocolError } from "./frames.mjs";

const text = (value) => typeof value === "string";
const flag = (value) => typeof value === "boolean";
const number = (value) => typeof value === "number" && Number.isFinite(value);
const size = (value) => Number.isSafeInteger(value) && value >= 0;
const positive = (value) => Number.isSafeInteger(value) && value > 0;
const path = (value) => text(value) && value.startsWith("/");
const orNull = (check) => (value) => value === null || check(value);
const oneOf =
  (...values) =>
  (value) =>
    values.includes(value);
const listOf = (check) => (value) => Array.isArray(value) && value.every(check);
const variables = (value) => typeof value === "object" && value !== null && Object.values(value).every(text);
const terminal = (value) => typeof value === "object" && positive(value?.columns) && positive(value?.rows);

/** The members of each request, and what each must be. */
const shapes = {
  hello: {
    version: oneOf(1),
    workdir: path,
    env: variables,
    directories: listOf(path),
    ttlMs: orNull(number),
    idleMs: orNull(number),
    leaseMs: orNull(number),
  },
  spawn: {
    command: (value) => listOf(text)(value) && value.length > 0,
    cwd: orNull(path),
    env: variables,
    stdin: flag,
    mergeStderr: flag,
    pty: orNull(terminal),
    control: flag,
  },
  kill: { process: size, signal: text, scope: oneOf("tree", "group") },
  resize: { process: size, columns: number, rows: number },
  read: { path, offset: size, length: orNull(size) },
  write: {
    path,
    mode: oneOf("truncate", "append", "exclusive"),
    permissions: orNull(size),
    ifModifiedAt: orNull(number),
  },
  list: { path, recursive: flag, maxDepth: orNull(size), limit: orNull(size) },
  stat: { path, followSymlinks: flag },
  mkdir: { path },
  move: { from: path, to: path },
  remove: { path, recursive: flag },
  symlink: { target: text, path },
  info: {},
  extend: { ttlMs: number },
  shutdown: {},
};

/** @throws ProtocolError for what is no request at all */
export function parseRequest(payload) {
  const json = payload.toString();
  let request;
  try {
    request = JSON.parse(json);
  } catch (cause) {
    throw new ProtocolError("a request is no JSON", { cause });
  }
  if (typeof request?.op !== "string") throw new ProtocolError("a request asks for nothing");
  return request;
}

/** @throws AgentFailure `ENOSYS` for a request that is not known, `EINVAL` for a member that is not what it must be */
export function checkRequest(request) {
  const shape = Object.hasOwn(shapes, request.op) ? shapes[request.op] : undefined;
  if (!shape) throw new AgentFailure("ENOSYS", `"${request.op}" is not known`);
  for (const [name, check] of Object.entries(shape)) {
    if (!check(request[name])) throw new AgentFailure("EINVAL", `${request.op}: ${name} is not valid`);
  }
}

/** @throws AgentFailure `EILSEQ` for text that UTF-8 cannot say; JSON can, by an escape */
export function requireText(payload) {
  if (
    /\\ud[89a-f]/i.test(payload.toString("latin1")) &&
    /\p{Surrogate}/u.test(strings(JSON.parse(payload.toString())))
  ) {
    throw new AgentFailure("EILSEQ", "a half of a surrogate pair is no text");
  }
}

function strings(value) {
  if (typeof value === "string") return `${value}\n`;
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value).flat().map(strings).join("");
}
