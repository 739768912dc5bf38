import { size } from "./text.js";

/** Files that one result may bring beside its text. */
const maxAttachments = 10;

/** What is too long, or of no use, as text: it goes into a file of the sandbox. */
export interface Attachment {
  /** What the text calls it, in brackets: `figure 1`. */
  readonly label: string;
  /** The end of the file's name: `figure-1.svg`. */
  readonly name: string;
  readonly data: Uint8Array;
}

/** Collects what of one result goes into files. */
export class Attachments {
  readonly list: Attachment[] = [];

  /** Takes it; gives the words for its place in the text. */
  add(kind: string, extension: string, data: Uint8Array, what: string): string {
    if (this.list.length >= maxAttachments) {
      return `[${what}, ${size(data.length)}: left out, as there are ${maxAttachments} such files already]`;
    }
    const number = this.list.filter(({ label }) => label.startsWith(`${kind} `)).length + 1;
    const label = `${kind} ${number}`;
    this.list.push({ label, name: `${kind}-${number}.${extension}`, data });
    return `[${label}: ${what}, ${size(data.length)}; its file is named below]`;
  }
}
