import { constants as system } from "node:os";
import { AgentFailure } from "./failure.mjs";
import { ProtocolError } from "./frames.mjs";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const text = (value) => typeof value === "string" && !value.includes("\0");
const flag = (value) => typeof value === "boolean";
const whole =
  (lowest, highest = Number.MAX_SAFE_INTEGER) =>
  (value) =>
    Number.isSafeInteger(value) && value >= lowest && value <= highest;
const size = whole(0);
/** A time span in milliseconds. */
const span = (value) => typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
const path = (value) => text(value) && value.startsWith("/");
const orNull = (check) => (value) => value === null || check(value);
const orAbsent = (check) => (value) => value === undefined || check(value);
const oneOf =
  (...values) =>
  (value) =>
    values.includes(value);
const listOf = (check) => (value) => Array.isArray(value) && value.every(check);
const record = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const variables = (value) => record(value) && Object.entries(value).flat().every(text);
const side = whole(1, 0xffff);
const portNumber = whole(1, 0xffff);
const terminal = (value) => record(value) && side(value.columns) && side(value.rows);

/** The members of each request, and what each must be. */
const shapes = {
  hello: {
    version: size,
    workdir: path,
    env: variables,
    directories: listOf(path),
    ttlMs: orNull(span),
    idleMs: orNull(span),
    leaseMs: orNull(span),
    network: orAbsent((value) => record(value) && portNumber(value.port)),
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
  kill: {
    process: whole(1),
    signal: (value) => text(value) && Object.hasOwn(system.signals, value),
    scope: oneOf("tree", "group"),
  },
  resize: { process: whole(1), columns: side, rows: side },
  read: { path, offset: size, length: orNull(size) },
  write: {
    path,
    mode: oneOf("truncate", "append", "exclusive"),
    permissions: orNull(whole(0, 0o7777)),
    ifModifiedAt: orNull(whole(Number.MIN_SAFE_INTEGER)),
  },
  list: { path, recursive: flag, maxDepth: orNull(whole(1)), limit: orNull(size) },
  stat: { path, followSymlinks: flag },
  mkdir: { path },
  move: { from: path, to: path },
  remove: { path, recursive: flag },
  symlink: { target: text, path },
  connect: { port: portNumber },
  info: {},
  extend: { ttlMs: span },
  shutdown: {},
};

/** @throws ProtocolError for what is no request at all */
export function parseRequest(payload) {
  let request;
  try {
    request = JSON.parse(decoder.decode(payload));
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
