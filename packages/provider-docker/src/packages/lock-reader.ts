/** What a wheel's directory of facts is called. */
const wheelFacts = /\/([A-Za-z0-9][\w.]*)-([\w.!+]+)\.dist-info\/METADATA$/;
const nodeFacts = "node/node_modules/.package-lock.json";
const mostBytes = 16 * 1024 * 1024;
const nodeName = /^(?:@[\w.~-]+\/)?[\w.~-]+$/;
const nodeVersion = /^[\w.+-]+$/;

/** Finds out from the files of an installation what was installed, each with its version. */
export class LockReader {
  readonly #python: string[] = [];
  #node: Promise<string> | undefined;

  /** The content of a file, which is looked into on its way if it tells something. */
  watch(name: string, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const [, project, version] = wheelFacts.exec(name) ?? [];
    if (name.startsWith("python/") && project !== undefined && version !== undefined) {
      this.#python.push(`${project.toLowerCase().replace(/[_.]+/g, "-")}==${version}`);
    }
    if (name !== nodeFacts) return body;
    const [passed, kept] = body.tee();
    this.#node = textOf(kept);
    // Whoever reads the lock is told.
    this.#node.catch(() => undefined);
    return passed;
  }

  /** `name==version` of Python's, `npm:name@version` of Node's, sorted. */
  async entries(): Promise<readonly string[]> {
    const node = this.#node === undefined ? [] : nodeEntries(await this.#node);
    return [...this.#python.sort(), ...node.sort()];
  }
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) if (text.length < mostBytes) text += decoder.decode(bytes, { stream: true });
  return text;
}

/** Those that can be asked for by name: what lies below another package is its own matter. */
function nodeEntries(text: string): string[] {
  const packages: unknown = (JSON.parse(text) as { readonly packages?: unknown } | null)?.packages;
  // Of a text or a list of megabytes, each character and each place would be an entry.
  if (typeof packages !== "object" || packages === null || Array.isArray(packages)) return [];
  return Object.entries(packages).flatMap(([place, facts]) => {
    const name = place.match(/^node_modules\/([^/]+(?:\/[^/]+)?)$/)?.[1] ?? "";
    const version: unknown = (facts as { readonly version?: unknown } | null)?.version;
    const fits = nodeName.test(name) && typeof version === "string" && nodeVersion.test(version);
    return fits ? [`npm:${name}@${version}`] : [];
  });
}
