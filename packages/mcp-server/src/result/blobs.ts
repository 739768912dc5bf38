import type { Attachments } from "./attachments.js";
import { base64Spans } from "./base64-spans.js";
import { imageTypeOf } from "./images.js";

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "application/pdf": "pdf",
  "application/zip": "zip",
};

/**
 * The text with its long base64 parts as attachments: no model can read them, and each costs thousands of tokens.
 * @param incomplete True when part of the text was given up, maybe in the midst of such a part.
 */
export function withoutBlobs(text: string, attachments: Attachments, incomplete = false): string {
  let shown = "";
  let from = 0;
  for (const { start, end } of base64Spans(text)) {
    const head = /data:([\w.+-]+\/[\w.+-]+)?[\w=;-]{0,50};base64,$/.exec(
      text.slice(Math.max(from, start - 120), start),
    );
    const data = Buffer.from(text.slice(start, end), "base64");
    const type = head?.[1] ?? imageTypeOf(data) ?? signatureOf(data);
    const what = `${incomplete ? "maybe a part of " : ""}base64${type === undefined ? "" : ` of ${type}`}`;
    shown += text.slice(from, start - (head?.[0].length ?? 0));
    shown += attachments.add("data", extensions[type ?? ""] ?? "bin", data, what);
    from = end;
  }
  return from === 0 ? text : shown + text.slice(from);
}

function signatureOf(data: Uint8Array): string | undefined {
  const start = Buffer.from(data.subarray(0, 4)).toString("latin1");
  if (start === "%PDF") return "application/pdf";
  return start === "PK\x03\x04" ? "application/zip" : undefined;
}
