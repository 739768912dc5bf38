import { z } from "@sandkit/core";
import type { PackageCache } from "./cache.js";
import { type Pin, pinSchema } from "./pin.js";

/** Changes with the shape of what is noted. */
const format = 2;
const noteSchema = z.array(pinSchema);

/** What was chosen before, and how old that is. */
export interface ChoiceNote {
  readonly pins: readonly Pin[];
  readonly ageMs: number;
}

/** Choices of versions, noted for the next sandbox with the same packages. */
export class ChoiceNotes {
  readonly #cache: PackageCache;

  constructor(cache: PackageCache) {
    this.#cache = cache;
  }

  /** @param key Equal for requests with the same answer. */
  async read(key: unknown): Promise<ChoiceNote | undefined> {
    const note = await this.#cache.note(keyOf(key));
    const pins = note && parse(note.text);
    return pins && { pins, ageMs: note.ageMs };
  }

  async keep(key: unknown, pins: readonly Pin[]): Promise<void> {
    await this.#cache.keepNote(keyOf(key), JSON.stringify(pins));
  }
}

function keyOf(key: unknown): string {
  return JSON.stringify([format, key]);
}

/** Undefined for what is damaged: then the index is asked. */
function parse(text: string): readonly Pin[] | undefined {
  try {
    return noteSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
