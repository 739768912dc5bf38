import * as z from "zod";
import { ProtocolError } from "./frames.js";
import type {
  AgentCode,
  AgentError,
  AgentFarewell,
  AgentFileInfo,
  AgentInfo,
  AgentListFailure,
  AgentReady,
  ProcessEvent,
} from "./protocol.js";

/**
 * What the agent says, checked: the code in its box may have taken its place. Unknown members are dropped.
 */
const time = z.number().finite().min(-8.64e15).max(8.64e15);
const size = z.number().nonnegative();
const names = z.array(z.string().max(64)).max(64);

const error: z.ZodType<AgentError> = z.object({
  errno: z.string().max(64),
  message: z.string().max(64 * 1024),
  path: z.string().optional(),
});

const response = z.union([z.object({ ok: z.unknown() }), z.object({ error })]);

const ready: z.ZodType<AgentReady> = z.object({
  version: z.literal(1),
  runtime: z.string().max(100),
  killTree: z.enum(["native", "emulated"]),
  pty: z.boolean(),
  workdir: z.string().max(4096),
  startedAt: time,
  settingUp: z.boolean().optional(),
});

const info: z.ZodType<AgentInfo> = z.object({
  shells: names,
  interpreters: names,
  programs: names,
  expiresAt: time.nullable(),
});

const processEvent: z.ZodType<ProcessEvent> = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("exited"),
    code: z.int().min(0).max(255).nullable(),
    signal: z.string().max(16).nullable(),
    oom: z.boolean(),
    cpuMs: size.nullable(),
    peakMemoryBytes: size.nullable(),
  }),
  z.object({ event: z.literal("gone") }),
  z.object({ event: z.literal("lost"), message: z.string().max(10_000) }),
]);

const fileInfo: z.ZodType<AgentFileInfo> = z.object({
  path: z.string(),
  type: z.enum(["file", "directory", "symlink", "other"]),
  size,
  mode: z.int().min(0).max(0o7777),
  modifiedAt: time,
  symlinkTarget: z.string().optional(),
});

const listed: z.ZodType<AgentFileInfo | AgentListFailure> = z.union([fileInfo, z.object({ error })]);

const code: z.ZodType<AgentCode> = z.object({ code: z.base64().max(100 * 1024) });

const farewell: z.ZodType<AgentFarewell> = z.object({
  reason: z.enum(["ttl", "idle", "lease", "shutdown", "protocol"]),
  message: z.string().max(10_000),
});

const schemas = {
  response,
  ready,
  info,
  processEvent,
  fileInfo,
  listed,
  farewell,
  started: z.object({ pid: z.int().positive() }),
  code,
  removed: z.object({ removed: z.boolean() }),
  empty: z.unknown(),
};

type Messages = { [Name in keyof typeof schemas]: z.output<(typeof schemas)[Name]> };

/** A value of the agent as what it must be. @throws ProtocolError */
export function checked<Name extends keyof Messages>(name: Name, value: unknown): Messages[Name] {
  const result = schemas[name].safeParse(value);
  if (result.success) return result.data as Messages[Name];
  throw new ProtocolError(`the agent sent no valid ${name}: ${z.prettifyError(result.error)}`);
}

/** JSON of the agent. @throws ProtocolError */
export function parseMessage<Name extends keyof Messages>(name: Name, text: string): Messages[Name] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ProtocolError(`the agent sent no JSON for a ${name}`, { cause });
  }
  return checked(name, value);
}
