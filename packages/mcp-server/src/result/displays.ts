import type { CellResult, MimeBundle } from "@sandkit/core";
import type { ImageTray, ImageType } from "./images.js";
import type { Section } from "./text.js";

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const satisfies ImageType[];
const textTypes = ["text/plain", "text/markdown", "image/svg+xml", "text/html"];

/** Displays of one cell that are shown: the first ones and the last, which is its value. */
const maxShown = 50;

/** What a cell displayed: pictures go onto the tray, the rest becomes text. The last value has a label of its own. */
export function displaySections(result: CellResult, images: ImageTray): Section[] {
  const { outputs } = result;
  const last = outputs.length - 1;
  const leftOut = Math.max(0, outputs.length - maxShown);
  const sections = outputs.flatMap((bundle, index): Section[] => {
    if (index === maxShown - 1 && leftOut > 0)
      return [{ label: "output", text: `(${leftOut} more displays are not shown)` }];
    if (index >= maxShown && index < last) return [];
    const text = showBundle(bundle, images);
    const label = index === last && result.value !== undefined ? "value" : "output";
    return text === undefined ? [] : [{ label, text }];
  });
  if (result.outputs.length > 0 || result.value === undefined) return sections;
  return [{ label: "value", text: JSON.stringify(result.value) }];
}

/** The best form of one display: a picture if there is one, else text. */
function showBundle(bundle: MimeBundle, images: ImageTray): string | undefined {
  for (const type of imageTypes) {
    const data = bundle[type];
    if (typeof data === "string") return images.add(data.replaceAll(/\s/g, ""), type);
  }
  for (const type of textTypes) {
    const text = bundle[type];
    if (typeof text === "string") return text;
  }
  return JSON.stringify(bundle);
}
