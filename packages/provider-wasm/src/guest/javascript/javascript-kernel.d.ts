/** What the drivers of JavaScript have in common lies in core, as source for any engine. */
declare module "javascript-kernel/display.cjs" {
  /** Every form of a value by MIME type, as JSON text. */
  export function bundle(value: unknown, json?: string): string;
  /** A bundle that the user has made, as JSON text. */
  export function rawBundle(forms: unknown): string;
}

declare module "javascript-kernel/json-text.cjs" {
  /** The value as JSON text, or undefined where it is nothing that JSON can hold. */
  export function jsonText(value: unknown, longest?: number): string | undefined;
}
