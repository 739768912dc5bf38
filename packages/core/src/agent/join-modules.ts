import { readFile } from "node:fs/promises";

const anyImport = /^import \{([^}]*)\} from "([^"]+)";\n/gm;

/**
 * One module out of one that imports others beside it, by their relative paths: what a command line can carry.
 * All share one scope, so their top-level names must differ.
 */
export async function joinModules(entry: URL): Promise<string> {
  const builtin = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const join = async (url: URL): Promise<string> => {
    if (seen.has(url.href)) return "";
    seen.add(url.href);
    const text = await readFile(url, "utf8");
    let before = "";
    for (const [, names = "", from = ""] of text.matchAll(anyImport)) {
      if (from.startsWith(".")) before += await join(new URL(from, url));
      else builtin.set(from, new Set([...(builtin.get(from) ?? []), ...namesOf(names)]));
    }
    return `${before}${text.replace(anyImport, "").replace(/^export /gm, "")}\n`;
  };
  const body = await join(entry);
  const imports = Array.from(builtin, ([from, names]) => `import { ${[...names].join(", ")} } from "${from}";\n`);
  return imports.join("") + body;
}

function namesOf(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
