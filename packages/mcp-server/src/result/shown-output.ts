import type { Captured, CellResult, ExecResult } from "@sandkit/core";
import type { Config } from "../config.js";
import type { LogPage } from "../runs/run-log.js";
import { type Attachment, Attachments } from "./attachments.js";
import { base64Spans } from "./base64-spans.js";
import { withoutBlobs } from "./blobs.js";
import { looksLikeJson } from "./cut-json.js";
import { displaySections } from "./displays.js";
import { ImageTray } from "./images.js";
import { isBinary, terminalText } from "./terminal-text.js";
import { ends, joinSections, type Section, size } from "./text.js";

const streams = ["stdout", "stderr"] as const;
/** Text beyond so many characters is not looked at as a whole. */
const maxWorkedOn = 256 * 1024;
/** JSON must be seen whole to be cut. */
const maxJson = 2 * 1024 * 1024;
type Stream = (typeof streams)[number];

/** What a model sees of a run's output, within the limits of the config. */
export interface ShownOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** The streams that are not shown whole. */
  readonly cut: readonly Stream[];
  readonly images: ImageTray["blocks"];
  /** What goes into files of the sandbox. */
  readonly attachments: readonly Attachment[];
}

/** Both streams, then what a cell displayed and its exception. */
export function showOutput(ended: ExecResult | CellResult, config: Config): ShownOutput {
  const attachments = new Attachments();
  const output = streams.flatMap((name) => streamSection(name, ended[name], attachments));
  return showWith(output, ended, attachments, config);
}

/** The same, of a run whose earlier output was shown already: of the streams only what stands on the page. */
export function showRest(ended: ExecResult | CellResult, page: LogPage, config: Config): ShownOutput {
  const attachments = new Attachments();
  return showWith(pageSections(page, attachments), ended, attachments, config);
}

/** What a run has written, while it goes on. */
export function showPage(page: LogPage, config: Config): ShownOutput {
  const attachments = new Attachments();
  return show(pageSections(page, attachments), [], attachments, config);
}

function showWith(output: Section[], ended: ExecResult | CellResult, attachments: Attachments, config: Config) {
  if (!("outputs" in ended)) return show(output, [], attachments, config);
  const images = new ImageTray(config);
  const displayed = displaySections(ended, images, attachments);
  const { error } = ended;
  const failed = error === undefined ? [] : [{ label: "error", text: terminalText(error.traceback || error.message) }];
  return show([...output, ...displayed, ...failed], images.blocks, attachments, config);
}

function show(
  sections: readonly Section[],
  images: ImageTray["blocks"],
  attachments: Attachments,
  config: Config,
): ShownOutput {
  const { text, truncated, cut } = joinSections(sections, config.outputChars);
  return { text, truncated, cut: streams.filter((name) => cut.includes(name)), images, attachments: attachments.list };
}

function pageSections(page: LogPage, attachments: Attachments): Section[] {
  const missed =
    page.missed > 0 ? [{ label: "missed", text: `${page.missed} characters passed by before this read` }] : [];
  return [
    ...missed,
    ...streams.flatMap((name) => {
      const text = page[name];
      return streamSection(name, { text, totalBytes: Buffer.byteLength(text), truncated: false }, attachments);
    }),
  ];
}

/** What a terminal shows of a text, or of the two ends of one that is far too long: others wait while it is worked on. */
function forShowing(text: string): { readonly text: string; readonly whole: boolean } {
  const all = () => ({ text: terminalText(text), whole: true });
  if (text.length <= maxWorkedOn || (looksLikeJson(text) && text.length <= maxJson)) return all();
  const half = maxWorkedOn / 2;
  const borders = [half, text.length - half];
  // One long piece of base64 becomes a file, which must be whole.
  if (borders.some((at) => base64Spans(text.slice(at - 2_048, at + 2_048)).length > 0)) return all();
  const { head, tail } = ends(text, maxWorkedOn);
  const gap = `\n[... ${text.length - head.length - tail.length} characters left out ...]\n`;
  // Each by itself: what the tail does to the lines above it must not reach the head.
  return { text: terminalText(head) + gap + terminalText(tail), whole: false };
}

/** A stream as a section; none when nothing was written. */
function streamSection(label: Stream, stream: Omit<Captured, "bytes">, attachments: Attachments): Section[] {
  const { totalBytes, truncated } = stream;
  if (totalBytes === 0) return [];
  if (isBinary(stream.text)) return [{ label, text: `(binary, ${size(totalBytes)})`, totalBytes }];
  const { text, whole } = forShowing(stream.text);
  return [
    {
      label,
      text: withoutBlobs(text, attachments, truncated),
      totalBytes: truncated || !whole ? totalBytes : undefined,
      remedy: "see the end",
    },
  ];
}
