import type { CallToolResult, ToolAnnotations } from "@modelcontextprotocol/server";
import { SandboxError } from "@sandkit/core";
import * as z from "zod";
import { type Act, questionOf } from "../approval/question.js";
import type { Config } from "../config.js";
import type { OutputMessages } from "../output-messages.js";
import type { Progress } from "../progress.js";
import type { ResourceChanges } from "../resources/resource-changes.js";
import { invalid } from "../result/error-result.js";
import { size } from "../result/text.js";
import type { Runs } from "../runs/runs.js";
import type { Making } from "../sandbox-maker.js";
import type { Sandboxes } from "../sandboxes.js";
import type { Snapshots } from "../snapshots.js";
import type { Surface } from "../surface.js";

/** What every tool is described by. */
export interface ToolContext {
  readonly config: Config;
  readonly surface: Surface;
  /** What a call without `sandbox_id` gets. */
  readonly implicit: "default" | "fresh";
  /** When an unused sandbox ends, in seconds. */
  readonly idleSeconds: number;
}

/** What a tool works with during one call. */
export interface ToolCall extends ToolContext {
  readonly sandboxes: Sandboxes;
  readonly snapshots: Snapshots;
  readonly runs: Runs;
  readonly progress: Progress;
  readonly output: OutputMessages;
  /** Told what a call changes. */
  readonly changes: ResourceChanges;
  /** Aborts when the client cancels or goes away. */
  readonly signal: AbortSignal;
  /** How a sandbox is made when this call needs one. */
  readonly making: Making;
  /** Whether the client's protocol knows links to files. */
  readonly links: boolean;
}

/** One tool as its file defines it. */
export interface ToolDefinition<Schema extends z.ZodObject> {
  readonly name: string;
  description(context: ToolContext): string;
  input(context: ToolContext): Schema;
  annotations(surface: Surface): ToolAnnotations;
  /** Other spellings that are understood but not advertised. */
  prepare?(input: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** What the schema cannot tell of arguments that do not fit. @throws SandboxError */
  check?(input: z.output<Schema>, context: ToolContext): void;
  /** What a call is about to do, for whoever is asked about it and for the audit log. */
  act(input: z.output<Schema>, context: ToolContext): Act;
  run(input: z.output<Schema>, call: ToolCall): Promise<CallToolResult>;
}

/** A call whose arguments fit. */
interface PreparedCall {
  readonly act: Act;
  /** The call as a person is shown it. @throws SandboxError `TOO_LARGE` when it is too long to be judged */
  readonly question: () => string;
  run(call: ToolCall): Promise<CallToolResult>;
}

/** One tool as the server uses it. */
export interface Tool {
  readonly name: string;
  describe(context: ToolContext): {
    name: string;
    description: string;
    inputSchema: { type: "object"; [key: string]: unknown };
    annotations: ToolAnnotations;
  };
  /** @throws SandboxError `INVALID` for arguments that do not fit */
  prepare(input: Record<string, unknown> | undefined, context: ToolContext): Promise<PreparedCall>;
}

/** Makes a tool of its definition: its schema is published, and checked at each call. */
export function defineTool<Schema extends z.ZodObject>(definition: ToolDefinition<Schema>): Tool {
  const { name } = definition;
  // A schema is compiled at its first use: one for each runtime, which has one surface.
  const schemas = new WeakMap<Surface, Schema>();
  const schemaFor = (context: ToolContext): Schema => {
    const schema = schemas.get(context.surface) ?? definition.input(context);
    schemas.set(context.surface, schema);
    return schema;
  };
  return {
    name,
    describe(context) {
      const { $schema: _, ...schema } = z.toJSONSchema(schemaFor(context), { io: "input" });
      return {
        name,
        description: definition.description(context),
        inputSchema: { ...schema, type: "object" },
        annotations: definition.annotations(context.surface),
      };
    },
    async prepare(input, context) {
      const schema = schemaFor(context);
      const parsed = schema.safeParse(definition.prepare?.(input ?? {}) ?? input ?? {});
      if (parsed.success) {
        definition.check?.(parsed.data, context);
        const act = definition.act(parsed.data, context);
        return {
          act,
          question: () => questionOf(act, parsed.data, context),
          run: (call) => definition.run(parsed.data, call),
        };
      }
      const issues = parsed.error.issues.map((issue) => [...issue.path, issue.message].join(": "));
      throw invalid(`${name}: ${issues.join("; ")}. Its parameters: ${Object.keys(schema.shape).join(", ")}.`);
    },
  };
}

/** The `sandbox_id` of every tool that works in a sandbox. */
export function sandboxId({ implicit }: ToolContext): z.ZodOptional<z.ZodString> {
  const description = implicit === "default" ? "Default: the shared sandbox" : "Default: a new one; its id is returned";
  return z.string().min(1).meta({ description }).optional();
}

/** The `timeout` of every tool that runs something, in seconds. */
export function timeout({ config }: ToolContext): z.ZodOptional<z.ZodNumber> {
  const { timeoutSeconds, maxTimeoutSeconds: max } = config;
  return z
    .number()
    .positive("must be above 0")
    .max(max, `must be at most ${max} (seconds, maxTimeoutSeconds of the config)`)
    .meta({ description: `Seconds, default ${timeoutSeconds}` })
    .optional();
}

interface PackageNames {
  readonly packages: z.ZodOptional<z.ZodArray<z.ZodString>>;
}

/** The `packages` of a tool, by the names that pip knows; none where the config lets calls name none. */
export function packageNames({ config }: ToolContext, description: string): PackageNames {
  // Without it every call has none, as with it where none are named.
  if (!config.packagesFromCalls) return {} as PackageNames;
  // One that begins with a dash would be an option of pip.
  const name = z.string().regex(/^[A-Za-z0-9]/, "must be a name, with a version if need be: requests==2.*");
  return { packages: z.array(name).max(50).meta({ description }).optional() };
}

/** The `wait_s` of every tool that may answer before what it waits for has ended, in seconds. */
export function waitSeconds({ config }: ToolContext, description: string): z.ZodOptional<z.ZodNumber> {
  const max = config.maxTimeoutSeconds;
  return z.number().min(0, "must not be below 0").max(max, `must be at most ${max}`).meta({ description }).optional();
}

/** @throws SandboxError `TOO_LARGE` naming the parameter and the limit */
export function checkSize(parameter: string, text: string | undefined, { config }: ToolContext): void {
  const limit = config.maxInputBytes;
  if (text === undefined || Buffer.byteLength(text) <= limit) return;
  const found = size(Buffer.byteLength(text));
  throw new SandboxError(
    "TOO_LARGE",
    `${parameter} is ${found}, above the limit of ${size(limit)} (maxInputBytes of the config): send it in parts, or let code in the sandbox make it`,
  );
}
