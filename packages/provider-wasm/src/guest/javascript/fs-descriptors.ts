import { Buffer } from "./buffer.js";
import { file, fileError, find, type Info, readAt, readInput, writeAt } from "./files.js";
import { constants, typeBits, typeOf, umask } from "./fs-constants.js";
import { type Path, pathOf } from "./fs-path.js";
import { Stats } from "./fs-stats.js";
import { printBytes } from "./host.js";

type Options = { encoding?: string | null; flag?: string; mode?: number } | string | null;
type Data = string | ArrayBufferView;

interface OpenFile {
  readonly handle: number;
  readonly flags: Flags;
  position: number;
}

interface Flags {
  readonly read: boolean;
  readonly write: boolean;
  readonly append: boolean;
  readonly create: boolean;
  readonly truncate: boolean;
  readonly exclusive: boolean;
}

const firstDescriptor = 3;
const open = new Map<number, OpenFile>();
let nextDescriptor = firstDescriptor;

export function openSync(path: Path, flag: string | number = "r", mode = 0o666): number {
  const flags = flagsOf(flag);
  const whole = pathOf(path);
  const standard = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].indexOf(whole);
  if (standard >= 0) return standard;
  const descriptor = nextDescriptor;
  open.set(descriptor, { handle: openHandle(whole, flags, mode), flags, position: 0 });
  nextDescriptor += 1;
  return descriptor;
}

function openHandle(path: string, flags: Flags, mode: number): number {
  const place = find(path, true, "open");
  if (place.info && flags.create && flags.exclusive) throw fileError("EEXIST", "open", path);
  if (!place.info && !flags.create) throw fileError("ENOENT", "open", path);
  const subject = { syscall: "open", path };
  const info = place.info ?? file<Info>("mknod", [place.parent, place.name, typeBits.file | (mode & ~umask)], subject);
  if (flags.write && typeOf(info.mode) === "directory") throw fileError("EISDIR", "open", path);
  const handle = file<number>("open", [info.ino], subject);
  if (flags.truncate && info.size > 0) file("fsetattr", [handle, { size: 0 }], subject);
  return handle;
}

function opened(descriptor: number, syscall: string): OpenFile {
  const found = open.get(descriptor);
  if (!found) throw fileError("EBADF", syscall);
  return found;
}

export function closeSync(descriptor: number): void {
  if (descriptor >= 0 && descriptor < firstDescriptor) return;
  const { handle } = opened(descriptor, "close");
  open.delete(descriptor);
  file("close", [handle], { syscall: "close" });
}

export function readSync(
  descriptor: number,
  target: ArrayBufferView,
  offsetOrOptions: number | { offset?: number; length?: number; position?: number | null } = 0,
  lengthGiven?: number,
  positionGiven: number | null = null,
): number {
  const given =
    typeof offsetOrOptions === "object"
      ? offsetOrOptions
      : { offset: offsetOrOptions, length: lengthGiven, position: positionGiven };
  const { offset = 0, position = null } = given;
  const bytes = new Uint8Array(target.buffer, target.byteOffset + offset, given.length ?? target.byteLength - offset);
  if (descriptor === 0) {
    const input = inputBytes(bytes.length);
    bytes.set(input);
    return input.length;
  }
  const found = opened(descriptor, "read");
  if (!found.flags.read) throw fileError("EBADF", "read");
  const count = readAt(found.handle, position ?? found.position, bytes);
  if (position === null) found.position += count;
  return count;
}

/** Waits for input as long as it takes; a signal is for others to see. */
function inputBytes(length: number): Uint8Array {
  for (;;) {
    const bytes = readInput(length);
    if (bytes) return bytes;
  }
}

export function writeSync(
  descriptor: number,
  data: Data,
  offset?: number,
  length?: number | string,
  position?: number | null,
): number {
  const bytes =
    typeof data === "string"
      ? Buffer.from(data, typeof length === "string" ? length : "utf8")
      : new Uint8Array(
          data.buffer,
          data.byteOffset + (offset ?? 0),
          typeof length === "number" ? length : data.byteLength - (offset ?? 0),
        );
  if (descriptor === 1 || descriptor === 2) {
    printBytes(descriptor, bytes);
    return bytes.length;
  }
  const found = opened(descriptor, "write");
  if (!found.flags.write) throw fileError("EBADF", "write");
  const at = (typeof data === "string" ? offset : position) ?? found.position;
  writeAt(found.handle, found.flags.append ? "end" : at, bytes);
  if (at === found.position) found.position += bytes.length;
  return bytes.length;
}

export function readFileSync(path: Path | number, options?: Options): string | Buffer {
  const encoding = typeof options === "string" ? options : options?.encoding;
  const bytes = readWhole(path, typeof options === "object" ? options?.flag : undefined);
  return encoding ? bytes.toString(encoding) : bytes;
}

function readWhole(path: Path | number, flag: string | undefined): Buffer {
  const descriptor = typeof path === "number" ? path : openSync(path, flag ?? "r");
  try {
    if (descriptor === 0) return readAllInput();
    const found = opened(descriptor, "read");
    const { size, mode } = file<Info>("fstat", [found.handle], { syscall: "read" });
    if (typeOf(mode) === "directory") throw fileError("EISDIR", "read");
    const bytes = Buffer.alloc(Math.max(0, size - found.position));
    const count = readAt(found.handle, found.position, bytes);
    if (typeof path === "number") found.position += count;
    return count < bytes.length ? bytes.subarray(0, count) : bytes;
  } finally {
    if (typeof path !== "number") closeSync(descriptor);
  }
}

function readAllInput(): Buffer {
  const pieces: Uint8Array[] = [];
  for (let piece = inputBytes(1 << 18); piece.length > 0; piece = inputBytes(1 << 18)) pieces.push(piece);
  return Buffer.concat(pieces);
}

export function writeFileSync(path: Path | number, data: unknown, options?: Options): void {
  const {
    encoding = "utf8",
    flag = "w",
    mode = 0o666,
  } = typeof options === "string" ? { encoding: options } : (options ?? {});
  const bytes = dataBytes(data, encoding ?? "utf8");
  const descriptor = typeof path === "number" ? path : openSync(path, flag, mode);
  try {
    writeSync(descriptor, bytes);
  } finally {
    if (typeof path !== "number") closeSync(descriptor);
  }
}

function dataBytes(data: unknown, encoding: string): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const error = new TypeError(
    'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView.',
  );
  throw Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}

export function appendFileSync(path: Path | number, data: unknown, options?: Options): void {
  writeFileSync(path, data, { flag: "a", ...(typeof options === "string" ? { encoding: options } : options) });
}

export function fstatSync(descriptor: number): Stats {
  return new Stats(file<Info>("fstat", [opened(descriptor, "fstat").handle], { syscall: "fstat" }));
}

export function ftruncateSync(descriptor: number, size = 0): void {
  file("fsetattr", [opened(descriptor, "ftruncate").handle, { size }], { syscall: "ftruncate" });
}

export function fsyncSync(descriptor: number): void {
  opened(descriptor, "fsync");
}

function flagsOf(flag: string | number): Flags {
  if (typeof flag === "number") {
    const access = flag & 3;
    return {
      read: access !== constants.O_WRONLY,
      write: access !== constants.O_RDONLY,
      append: (flag & constants.O_APPEND) !== 0,
      create: (flag & constants.O_CREAT) !== 0,
      truncate: (flag & constants.O_TRUNC) !== 0,
      exclusive: (flag & constants.O_EXCL) !== 0,
    };
  }
  const match = /^(?:(r)s?|(w)|(a)s?)(x?)(\+?)$|^(?:rs|as)\+$/.exec(flag);
  if (!match)
    throw Object.assign(new TypeError(`The argument 'flags' is invalid. Received '${flag}'`), {
      code: "ERR_INVALID_ARG_VALUE",
    });
  const [kind, plus] = [flag[0], flag.includes("+")];
  return {
    read: kind === "r" || plus,
    write: kind !== "r" || plus,
    append: kind === "a",
    create: kind !== "r",
    truncate: kind === "w",
    exclusive: flag.includes("x"),
  };
}
