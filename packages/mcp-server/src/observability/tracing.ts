import type { Attributes, Span, SpanKind } from "@opentelemetry/api";
import { report } from "../report.js";

type Api = typeof import("@opentelemetry/api");

/** Where a program that collects traces has put its provider; without one nothing is loaded and nothing is done. */
const registered = Symbol.for("opentelemetry.js.api.1");
let loading: Promise<Api | undefined> | undefined;

export interface TracedOptions {
  readonly kind?: keyof typeof SpanKind;
  readonly attributes?: Attributes;
  /** `_meta` of the request that asks: the caller's `traceparent`, `tracestate` and `baggage`. */
  readonly carrier?: unknown;
}

/** What can be told of work under way; nothing happens where nobody collects. */
export interface Traced {
  /** By which what is told elsewhere is found again. */
  readonly traceId: string | undefined;
  set(attributes: Attributes): void;
  fail(type: string, message?: string): void;
}

const untraced: Traced = { traceId: undefined, set: () => undefined, fail: () => undefined };

/** Does the work within a span of its own, a child of the caller's. */
export async function traced<Result>(
  name: string,
  options: TracedOptions,
  work: (span: Traced) => Promise<Result>,
): Promise<Result> {
  const api = registered in globalThis ? await load() : undefined;
  if (api === undefined) return await work(untraced);
  const { context, propagation, trace, SpanKind, SpanStatusCode } = api;
  const parent =
    options.carrier === undefined ? context.active() : propagation.extract(context.active(), options.carrier);
  const spanOptions = { kind: SpanKind[options.kind ?? "INTERNAL"], attributes: options.attributes ?? {} };
  return await trace.getTracer("@sandkit/mcp-server").startActiveSpan(name, spanOptions, parent, async (span) => {
    try {
      return await work(tracedBy(span, SpanStatusCode.ERROR));
    } catch (error) {
      span.recordException(error instanceof Error ? error : String(error));
      span.setAttribute("error.type", error instanceof Error ? error.name : "error");
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
    }
  });
}

function tracedBy(span: Span, error: number): Traced {
  return {
    traceId: span.spanContext().traceId,
    set: (attributes) => void span.setAttributes(attributes),
    fail(type, message) {
      span.setAttribute("error.type", type);
      span.setStatus(message === undefined ? { code: error } : { code: error, message });
    },
  };
}

function load(): Promise<Api | undefined> {
  loading ??= import("@opentelemetry/api").catch((error: unknown) => {
    report("no spans: @opentelemetry/api cannot be loaded; install it beside this package", error);
    return undefined;
  });
  return loading;
}
