import type { CellResult, ExecResult } from "@sandkit/core";
import type { Config } from "../config.js";
import { displaySections } from "./displays.js";
import { ImageTray } from "./images.js";
import { joinSections, streamSection } from "./text.js";

const streams = ["stdout", "stderr"] as const;

/** What a model sees of a run's output, within the limits of the config. */
export interface ShownOutput {
  readonly text: string;
  readonly truncated: boolean;
  /** The streams that are not shown whole. */
  readonly cut: readonly (typeof streams)[number][];
  readonly images: ImageTray["blocks"];
}

/** Both streams, then what a cell displayed and its exception. */
export function showOutput(ended: ExecResult | CellResult, config: Config): ShownOutput {
  const images = new ImageTray(config);
  const sections = streams.flatMap((name) => streamSection(name, ended[name]));
  if ("outputs" in ended) sections.push(...displaySections(ended, images));
  if ("error" in ended && ended.error !== undefined) {
    sections.push({ label: "error", text: ended.error.traceback || ended.error.message });
  }
  const { text, truncated, cut } = joinSections(sections, config.outputChars);
  return { text, truncated, cut: streams.filter((name) => cut.includes(name)), images: images.blocks };
}
