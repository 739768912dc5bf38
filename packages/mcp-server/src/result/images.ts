import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Config } from "../config.js";
import { size } from "./text.js";

type Block = CallToolResult["content"][number];

/** Images that clients show. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** Collects the images of one result within the limits of the config; what does not fit is told in words. */
export class ImageTray {
  readonly #limits: Pick<Config, "maxImages" | "maxImageBytes">;
  readonly blocks: Block[] = [];

  constructor(limits: Pick<Config, "maxImages" | "maxImageBytes">) {
    this.#limits = limits;
  }

  /** Adds an image; gives a sentence instead when it is too large or one too many. */
  add(base64: string, mimeType: ImageType): string | undefined {
    const bytes = Math.floor((base64.length * 3) / 4);
    const { maxImages, maxImageBytes } = this.#limits;
    if (bytes > maxImageBytes) {
      return `(${mimeType} of ${size(bytes)}, above the ${size(maxImageBytes)} that are shown: make it smaller, for example with a lower dpi)`;
    }
    if (this.blocks.length >= maxImages) {
      return `(${mimeType} of ${size(bytes)} not shown: ${maxImages} images are shown in one result; show the rest in another call)`;
    }
    this.blocks.push({ type: "image", data: base64, mimeType });
    return undefined;
  }
}

/** The type of an image by its first bytes. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const starts = (...signature: number[]) => signature.every((byte, index) => bytes[index] === byte);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif";
  const riff = starts(0x52, 0x49, 0x46, 0x46);
  if (riff && Buffer.from(bytes.subarray(8, 12)).toString("latin1") === "WEBP") return "image/webp";
  return undefined;
}
