import type { CellResult, MimeBundle } from "@sandkit/core";
import type { Attachments } from "./attachments.js";
import { withoutBlobs } from "./blobs.js";
import type { ImageTray, ImageType } from "./images.js";
import { describePlotly, plotlyType } from "./plotly.js";
import { terminalText } from "./terminal-text.js";
import type { Section } from "./text.js";

const imageTypes = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp" } as const;
const textTypes = ["text/plain", "text/markdown", "text/html"];
/** Longest drawing that is shown as its text too, in characters. */
const maxSvgChars = 2_000;

/** Displays of one cell that are shown: the first ones and the last, which is its value. */
const maxShown = 50;

/**
 * What a cell displayed: pictures go onto the tray, what clients cannot show becomes an attachment, the rest text. The
 * last value has a label of its own.
 */
export function displaySections(result: CellResult, images: ImageTray, attachments: Attachments): Section[] {
  const { outputs } = result;
  const last = outputs.length - 1;
  const leftOut = Math.max(0, outputs.length - maxShown);
  const sections = outputs.flatMap((bundle, index): Section[] => {
    if (index === maxShown - 1 && leftOut > 0)
      return [{ label: "output", text: `(${leftOut} more displays are not shown)` }];
    if (index >= maxShown && index < last) return [];
    const text = showBundle(bundle, images, attachments);
    const label = index === last && result.value !== undefined ? "value" : "output";
    return text === undefined ? [] : [{ label, text }];
  });
  if (result.outputs.length > 0 || result.value === undefined) return sections;
  return [{ label: "value", text: JSON.stringify(result.value) }];
}

/** The best form of one display: a picture if there is one, else text. */
function showBundle(bundle: MimeBundle, images: ImageTray, attachments: Attachments): string | undefined {
  for (const type of Object.keys(imageTypes) as ImageType[]) {
    const data = bundle[type];
    if (typeof data === "string") return showImage(data.replaceAll(/\s/g, ""), type, images, attachments);
  }
  const plot = bundle[plotlyType];
  if (plot !== undefined) {
    const data = Buffer.from(JSON.stringify(plot));
    return attachments.add("figure", "plotly.json", data, describePlotly(plot));
  }
  const drawing = bundle["image/svg+xml"];
  // The models behind most clients take no drawings as images: one of that type would fail the whole answer.
  if (typeof drawing === "string") {
    const place = attachments.add("figure", "svg", Buffer.from(drawing), "image/svg+xml");
    return drawing.length <= maxSvgChars ? `${place}\n${drawing}` : place;
  }
  for (const type of textTypes) {
    const text = bundle[type];
    if (typeof text === "string") return withoutBlobs(terminalText(text), attachments);
  }
  return withoutBlobs(JSON.stringify(bundle), attachments);
}

function showImage(data: string, type: ImageType, images: ImageTray, attachments: Attachments): string | undefined {
  const problem = images.add(data, type);
  if (problem === undefined) return undefined;
  return `${problem}\n${attachments.add("figure", imageTypes[type], Buffer.from(data, "base64"), type)}`;
}
