import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

const largestMiB = 1024;
const mebibyte = 1024 * 1024;
const mostNotes = 500;
const day = 24 * 60 * 60_000;
/** Of notes, and of files that were never finished. */
const longestMs = { note: 30 * day, unfinished: day };

/**
 * What was fetched before, in a directory that is closed to other users. Wheels go by their hash, and are compared with
 * it each time. Where the disk fails there is no cache, and all is fetched as without it.
 */
export class PackageCache {
  readonly #directory: string | undefined;

  /** @param directory Owner-only; undefined: nothing is kept. */
  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  async wheel(sha256: string): Promise<Buffer | undefined> {
    const bytes = await this.#read(`${sha256}.whl`);
    return bytes && sha256Of(bytes) === sha256 ? bytes : undefined;
  }

  async keepWheel(sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#write(`${sha256}.whl`, bytes);
    await this.#prune();
  }

  /** What was noted under this key, and how old it is. */
  async note(key: string): Promise<{ readonly text: string; readonly ageMs: number } | undefined> {
    const bytes = await this.#read(`${sha256Of(key)}.json`, false);
    const age = bytes && (await this.#age(`${sha256Of(key)}.json`));
    return bytes && age !== undefined ? { text: bytes.toString(), ageMs: age } : undefined;
  }

  async keepNote(key: string, text: string): Promise<void> {
    await this.#write(`${sha256Of(key)}.json`, Buffer.from(text));
    await this.#prune();
  }

  /** @param touches Makes it the one that was used last. */
  async #read(name: string, touches = true): Promise<Buffer | undefined> {
    if (this.#directory === undefined) return undefined;
    const path = join(this.#directory, name);
    try {
      const bytes = await readFile(path);
      const now = new Date();
      if (touches) await utimes(path, now, now);
      return bytes;
    } catch {
      // Not there, or not to be read: then it is fetched.
      return undefined;
    }
  }

  async #age(name: string): Promise<number | undefined> {
    try {
      return Date.now() - (await stat(join(this.#directory ?? "", name))).mtimeMs;
    } catch {
      // Another process has just removed it.
      return undefined;
    }
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#directory === undefined) return;
    const unfinished = join(this.#directory, `${name}.${randomBytes(6).toString("hex")}`);
    try {
      await writeFile(unfinished, bytes, { mode: 0o600, flag: "wx" });
      await rename(unfinished, join(this.#directory, name));
    } catch {
      // The disk is full, or not to be written: the next one fetches again.
      await rm(unfinished, { force: true }).catch(() => undefined);
    }
  }

  /** Removes what was used longest ago, until the rest is small enough. */
  async #prune(): Promise<void> {
    if (this.#directory === undefined) return;
    const directory = this.#directory;
    try {
      const names = await readdir(directory);
      const files = await Promise.all(
        names.map(async (name) => {
          const { size, mtimeMs } = await stat(join(directory, name));
          return { name, size, mtimeMs };
        }),
      );
      const superfluous = files.sort((a, b) => b.mtimeMs - a.mtimeMs).filter(superfluity());
      await Promise.all(superfluous.map(({ name }) => rm(join(directory, name), { force: true })));
    } catch {
      // Another process tidies up at the same time.
    }
  }
}

interface KeptFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Tells, file by file and the last used first, whether it is to go. */
function superfluity(): (file: KeptFile) => boolean {
  let [bytes, notes] = [0, 0];
  return ({ name, size, mtimeMs }) => {
    const age = Date.now() - mtimeMs;
    if (name.endsWith(".json")) {
      notes += 1;
      return notes > mostNotes || age > longestMs.note;
    }
    bytes += size;
    return bytes > largestMiB * mebibyte || (!name.endsWith(".whl") && age > longestMs.unfinished);
  };
}

/** In hexadecimal digits. */
export function sha256Of(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
