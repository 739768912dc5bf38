import * as z from "zod/mini";
import { describeIssues, english } from "../issues.js";
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
const time = lazily(() => z.number().check(z.gte(-8.64e15), z.lte(8.64e15)));
const size = lazily(() => z.number().check(z.nonnegative()));
const names = lazily(() => z.array(z.string().check(z.maxLength(64))).check(z.maxLength(64)));

const error = lazily<z.ZodMiniType<AgentError>>(() =>
  z.object({
    errno: z.string().check(z.maxLength(64)),
    message: z.string().check(z.maxLength(64 * 1024)),
    path: z.optional(z.string()),
  }),
);

const response = lazily(() => z.union([z.object({ ok: z.unknown() }), z.object({ error: error() })]));

const ready = lazily<z.ZodMiniType<AgentReady>>(() =>
  z.object({
    version: z.literal(1),
    runtime: z.string().check(z.maxLength(100)),
    killTree: z.enum(["native", "emulated"]),
    pty: z.boolean(),
    watch: z.optional(z.boolean()),
    user: z.optional(z.boolean()),
    workdir: z.string().check(z.maxLength(4096)),
    startedAt: time(),
    settingUp: z.optional(z.boolean()),
  }),
);

const info = lazily<z.ZodMiniType<AgentInfo>>(() =>
  z.object({
    shells: names(),
    interpreters: names(),
    programs: names(),
    expiresAt: z.nullable(time()),
  }),
);

const processEvent = lazily<z.ZodMiniType<ProcessEvent>>(() =>
  z.discriminatedUnion("event", [
    z.object({
      event: z.literal("exited"),
      code: z.nullable(z.int().check(z.gte(0), z.lte(255))),
      signal: z.nullable(z.string().check(z.maxLength(16))),
      oom: z.boolean(),
      cpuMs: z.nullable(size()),
      peakMemoryBytes: z.nullable(size()),
    }),
    z.object({ event: z.literal("gone") }),
    z.object({ event: z.literal("lost"), message: z.string().check(z.maxLength(10_000)) }),
  ]),
);

const fileInfo = lazily<z.ZodMiniType<AgentFileInfo>>(() =>
  z.object({
    path: z.string(),
    type: z.enum(["file", "directory", "symlink", "other"]),
    size: size(),
    mode: z.int().check(z.gte(0), z.lte(0o7777)),
    modifiedAt: time(),
    symlinkTarget: z.optional(z.string()),
  }),
);

const listed = lazily<z.ZodMiniType<AgentFileInfo | AgentListFailure>>(() =>
  z.union([fileInfo(), z.object({ error: error() })]),
);

const changed = lazily<z.ZodMiniType<AgentFileChange | AgentListFailure>>(() =>
  z.union([
    z.object({ type: z.enum(["created", "changed", "removed"]), path: z.string() }),
    z.object({ error: error() }),
  ]),
);

const placed = lazily<z.ZodMiniType<{ readonly bytes: number } | AgentListFailure>>(() =>
  z.union([z.object({ bytes: size() }), z.object({ error: error() })]),
);

const code = lazily<z.ZodMiniType<AgentCode>>(() => z.object({ code: z.base64().check(z.maxLength(maxPayloadBytes)) }));

const farewell = lazily<z.ZodMiniType<AgentFarewell>>(() =>
  z.object({
    reason: z.enum(["ttl", "idle", "lease", "shutdown", "protocol"]),
    message: z.string().check(z.maxLength(10_000)),
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
  started: lazily(() => z.object({ pid: z.int().check(z.positive()) })),
  code,
  placed,
  staged: lazily(() => z.object({ path: z.string() })),
  removed: lazily(() => z.object({ removed: z.boolean() })),
  empty: lazily(() => z.unknown()),
};

type Messages = { [Name in keyof typeof schemas]: z.output<ReturnType<(typeof schemas)[Name]>> };

/** A value of the agent as what it must be. @throws ProtocolError */
export function checked<Name extends keyof Messages>(name: Name, value: unknown): Messages[Name] {
  const result = schemas[name]().safeParse(value, english);
  if (result.success) return result.data as Messages[Name];
  throw new ProtocolError(`the agent sent no valid ${name}: ${describeIssues(result.error)}`);
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
