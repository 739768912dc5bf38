import * as z from "zod";
import { lazily } from "../lazily.js";
import { ProtocolError } from "./frames.js";
import {
  type AgentCode,
  type AgentError,
  type AgentFarewell,
  type AgentFileChange,
  type AgentFileInfo,
  type AgentInfo,
  type AgentListFailure,
  type AgentReady,
  maxPayloadBytes,
  type ProcessEvent,
} from "./protocol.js";

/**
 * What the agent says, checked: the code in its box may have taken its place. Unknown members are dropped.
 */
const time = lazily(() => z.number().finite().min(-8.64e15).max(8.64e15));
const size = lazily(() => z.number().nonnegative());
const names = lazily(() => z.array(z.string().max(64)).max(64));

const error = lazily<z.ZodType<AgentError>>(() =>
  z.object({
    errno: z.string().max(64),
    message: z.string().max(64 * 1024),
    path: z.string().optional(),
  }),
);

const response = lazily(() => z.union([z.object({ ok: z.unknown() }), z.object({ error: error() })]));

const ready = lazily<z.ZodType<AgentReady>>(() =>
  z.object({
    version: z.literal(1),
    runtime: z.string().max(100),
    killTree: z.enum(["native", "emulated"]),
    pty: z.boolean(),
    watch: z.boolean().optional(),
    user: z.boolean().optional(),
    workdir: z.string().max(4096),
    startedAt: time(),
    settingUp: z.boolean().optional(),
  }),
);

const info = lazily<z.ZodType<AgentInfo>>(() =>
  z.object({
    shells: names(),
    interpreters: names(),
    programs: names(),
    expiresAt: time().nullable(),
  }),
);

const processEvent = lazily<z.ZodType<ProcessEvent>>(() =>
  z.discriminatedUnion("event", [
    z.object({
      event: z.literal("exited"),
      code: z.int().min(0).max(255).nullable(),
      signal: z.string().max(16).nullable(),
      oom: z.boolean(),
      cpuMs: size().nullable(),
      peakMemoryBytes: size().nullable(),
    }),
    z.object({ event: z.literal("gone") }),
    z.object({ event: z.literal("lost"), message: z.string().max(10_000) }),
  ]),
);

const fileInfo = lazily<z.ZodType<AgentFileInfo>>(() =>
  z.object({
    path: z.string(),
    type: z.enum(["file", "directory", "symlink", "other"]),
    size: size(),
    mode: z.int().min(0).max(0o7777),
    modifiedAt: time(),
    symlinkTarget: z.string().optional(),
  }),
);

const listed = lazily<z.ZodType<AgentFileInfo | AgentListFailure>>(() =>
  z.union([fileInfo(), z.object({ error: error() })]),
);

const changed = lazily<z.ZodType<AgentFileChange | AgentListFailure>>(() =>
  z.union([
    z.object({ type: z.enum(["created", "changed", "removed"]), path: z.string() }),
    z.object({ error: error() }),
  ]),
);

const code = lazily<z.ZodType<AgentCode>>(() => z.object({ code: z.base64().max(maxPayloadBytes) }));

const farewell = lazily<z.ZodType<AgentFarewell>>(() =>
  z.object({
    reason: z.enum(["ttl", "idle", "lease", "shutdown", "protocol"]),
    message: z.string().max(10_000),
  }),
);

const schemas = {
  response,
  ready,
  info,
  processEvent,
  fileInfo,
  listed,
  changed,
  farewell,
  started: lazily(() => z.object({ pid: z.int().positive() })),
  code,
  removed: lazily(() => z.object({ removed: z.boolean() })),
  empty: lazily(() => z.unknown()),
};

type Messages = { [Name in keyof typeof schemas]: z.output<ReturnType<(typeof schemas)[Name]>> };

/** A value of the agent as what it must be. @throws ProtocolError */
export function checked<Name extends keyof Messages>(name: Name, value: unknown): Messages[Name] {
  const result = schemas[name]().safeParse(value);
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
