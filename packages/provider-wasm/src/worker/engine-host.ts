import { webcrypto } from "node:crypto";
import type { QuickJSContext, QuickJSHandle, VmFunctionImplementation } from "quickjs-emscripten-core";
import type { WorkerEnd } from "../link.js";

/** What the engine needs of its worker. */
export interface EngineHost extends Pick<WorkerEnd, "call"> {
  write(stream: number, bytes: Uint8Array): boolean;
  sleep(ms: number): void;
  pendingSignal(): number;
  takeSignal(): number;
}

/** What the driver decides about the engine that runs it. */
export interface EngineControl {
  /** Whether code of the user runs, which a signal may end. */
  arm(on: boolean): void;
  /** Has the code that runs end, past all `catch` and `finally`. */
  abort(): void;
  /** @throws Refusal where the module has no room for so many bytes */
  reserve(bytes: number): void;
  /** Lets the guest have so many MiB of what is held back of the memory. False where the rest cannot be held. */
  headroom(mebibytes: number): boolean;
}

export type HostFunction = VmFunctionImplementation<QuickJSHandle>;
type Handle = QuickJSHandle | undefined;

/** An error that the guest is told. All others of a host function are the end of the engine. */
export class Refusal extends Error {}

const largestPiece = 1024 * 1024;
/** A script of the global scope that may await; its value comes in an object. */
const asyncScript = 1 << 7;

/** All that leads out of the guest. Values come and go as primitives and copies of bytes. */
export function hostFunctions(
  context: QuickJSContext,
  host: EngineHost,
  control: EngineControl,
): Record<string, HostFunction> {
  const text = (handle: Handle) => (handle ? context.getString(handle) : "");
  const number = (handle: Handle) => (handle ? context.getNumber(handle) : 0);
  const parsed = (handle: Handle) => String(JSON.parse(text(handle)));
  const boolean = (value: boolean) => (value ? context.true : context.false);
  const bytes = (buffer: Handle, length: Handle): Uint8Array => {
    const count = number(length);
    if (!buffer || count === 0) return new Uint8Array();
    // The module copies them without a look at whether there is room.
    control.reserve(count);
    return context.getArrayBuffer(buffer).consume(({ value }) => value.slice());
  };
  const promise = (value: Handle) => context.getPromiseState(value ?? context.undefined);
  return {
    call: (operation, args) => context.newString(host.call(text(operation), text(args), null, false)),
    receive: (operation, args, length) => {
      const target = new Uint8Array(Math.max(0, Math.min(number(length), largestPiece)));
      const reply = host.call(text(operation), text(args), target, false);
      const count = countOf(reply);
      return count === undefined ? context.newString(reply) : context.newArrayBuffer(target.slice(0, count).buffer);
    },
    send: (operation, args, buffer, length) =>
      context.newString(host.call(text(operation), text(args), bytes(buffer, length), true)),
    print: (stream, json) => boolean(host.write(number(stream), Buffer.from(parsed(json)))),
    printBytes: (stream, buffer, length) => boolean(host.write(number(stream), bytes(buffer, length))),
    encode: (json) => context.newArrayBuffer(new TextEncoder().encode(parsed(json)).buffer),
    decode: (encoding, buffer, length, fatal) =>
      context.newString(decoded(text(encoding), bytes(buffer, length), number(fatal) !== 0)),
    evaluate: (json, name) => context.evalCode(parsed(json), text(name), asyncScript),
    compile: (json, name) => context.evalCode(parsed(json), text(name), 0),
    promiseState: (value) => {
      const state = promise(value);
      if (state.type === "rejected") state.error.dispose();
      if (state.type !== "fulfilled") return context.newString(state.type);
      if (state.notAPromise) return context.newString("none");
      state.value.dispose();
      return context.newString(state.type);
    },
    promiseResult: (value) => {
      const state = promise(value);
      if (state.type === "pending") return context.undefined;
      return state.type === "fulfilled" ? state.value : state.error;
    },
    now: () => context.newNumber(performance.now()),
    sleep: (ms) => {
      host.sleep(number(ms));
    },
    url: (json) => context.newString(urlParts(text(json))),
    random: (length) => context.newArrayBuffer(randomBytes(number(length)).buffer),
    arm: (on) => control.arm(number(on) !== 0),
    abort: () => control.abort(),
    headroom: (mebibytes) => boolean(control.headroom(number(mebibytes))),
    pendingSignal: () => context.newNumber(host.pendingSignal()),
    takeSignal: () => context.newNumber(host.takeSignal()),
  };
}

const urlSetters = [
  "href",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;

/** The parts of an address, as JSON; empty where it is none. */
function urlParts(json: string): string {
  const [address, base, name, value] = (JSON.parse(json) as unknown[]).map((part) =>
    part === null ? undefined : String(part),
  );
  if (address === undefined || !URL.canParse(address, base)) return "";
  const url = new URL(address, base);
  const setter = urlSetters.find((known) => known === name);
  if (setter === "href" && !URL.canParse(value ?? "")) return "";
  if (setter) url[setter] = value ?? "";
  return JSON.stringify({ ...Object.fromEntries(urlSetters.map((part) => [part, url[part]])), origin: url.origin });
}

/** How many bytes a reply of the broker brings; undefined when it tells of a failure. */
function countOf(reply: string): number | undefined {
  const parsed = JSON.parse(reply) as number | { readonly result?: number } | null;
  const count = typeof parsed === "object" ? parsed?.result : parsed;
  return typeof count === "number" && count >= 0 ? count : undefined;
}

/** The JSON of a text; empty for bytes that are none. */
function decoded(encoding: string, bytes: Uint8Array, fatal: boolean): string {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encoding, { fatal });
  } catch (error) {
    if (error instanceof RangeError) throw new Refusal(`The "${encoding}" encoding is not supported`);
    throw error;
  }
  try {
    return JSON.stringify(decoder.decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return "";
    throw error;
  }
}

function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  const most = 65_536;
  const random = new Uint8Array(Math.max(0, Math.min(length, largestPiece)));
  for (let start = 0; start < random.length; start += most) {
    webcrypto.getRandomValues(random.subarray(start, start + most));
  }
  return random;
}
