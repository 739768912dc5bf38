import type { ProcessExit, ProviderProcess } from "../provider.js";

const keptCharacters = 65_536;
const toldLine = /^(?:Collecting|Downloading|Building|Installing|Successfully|added)\b/;

/**
 * Reads what pip or npm write to their end.
 * @param onProgress Told the lines by which they say what they do.
 * @returns How it ended, with the end of what it wrote to stdout.
 */
export async function readInstaller(
  process: ProviderProcess,
  onProgress?: (message: string) => void,
): Promise<ProcessExit & { readonly text: string }> {
  const decoder = new TextDecoder();
  const errors = process.stderr.pipeTo(new WritableStream());
  // What breaks it breaks stdout too, which says so.
  errors.catch(() => undefined);
  let text = "";
  let line = "";
  for await (const bytes of process.stdout) {
    const piece = decoder.decode(bytes, { stream: true });
    text = (text + piece).slice(-keptCharacters);
    const lines = (line + piece).split("\n");
    line = lines.pop()?.slice(-keptCharacters) ?? "";
    for (const whole of lines) if (toldLine.test(whole.trim())) onProgress?.(whole.trim());
  }
  await errors;
  return { ...(await process.exited), text };
}
