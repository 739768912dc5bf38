import { SourceMap } from "node:module";
import type { Options, transformSync } from "@swc/wasm-typescript";
import type { CellError } from "../provider.js";

/** A cell without its types, or what is wrong with its syntax. */
export type PlainScript =
  | {
      readonly code: string;
      /** The line that each line was before, where they differ. */
      readonly lines?: readonly number[];
    }
  | { readonly failure: CellError };

/** Removes types: in place where only they are to go, so that every position stays. Types are not checked. */
export class TypeStripper {
  readonly #transform: typeof transformSync;

  private constructor(transform: typeof transformSync) {
    this.#transform = transform;
  }

  /** It is large: loaded for those alone who write TypeScript. */
  static async load(): Promise<TypeStripper> {
    const { default: library } = await import("@swc/wasm-typescript");
    return new TypeStripper(library.transformSync);
  }

  strip(code: string): PlainScript {
    try {
      return this.#strip(code);
    } catch (error) {
      if (!isDiagnostic(error)) throw error;
      return { failure: failureOf(error) };
    }
  }

  #strip(code: string): PlainScript {
    try {
      return { code: this.#transform(code, { mode: "strip-only" }).code };
    } catch (error) {
      if (!isDiagnostic(error) || error.code !== "UnsupportedSyntax") throw error;
    }
    // Enums and the like are code of their own.
    const transform: Options["transform"] = { verbatimModuleSyntax: true, noEmptyExport: true };
    const made = this.#transform(code, { mode: "transform", sourceMap: true, transform });
    return { code: made.code, lines: linesOf(made.code, made.map) };
  }
}

interface Diagnostic {
  readonly code: string;
  readonly message: string;
  readonly snippet?: string;
  readonly startLine?: number;
}

function isDiagnostic(error: unknown): error is Diagnostic {
  return typeof error === "object" && error !== null && "code" in error && "message" in error;
}

function failureOf({ message, snippet = "", startLine }: Diagnostic): CellError {
  const place = startLine === undefined ? "" : `line ${startLine}\n${snippet.trimEnd()}\n`;
  return { name: "SyntaxError", message, traceback: `${place}SyntaxError: ${message}\n` };
}

function linesOf(code: string, map: string | undefined): number[] {
  if (map === undefined) return [];
  const source = new SourceMap(JSON.parse(map));
  return code.split("\n").map((_, line) => {
    const entry = source.findEntry(line, Number.MAX_SAFE_INTEGER);
    return "originalLine" in entry ? entry.originalLine + 1 : line + 1;
  });
}
