import type { ProviderProcess } from "@sandkit/core";

const keptCharacters = 65_536;
const toldLine = /^(?:Collecting|Downloading|Building|Installing|Successfully|added)\b/;

/** How a program ended, and the end of what it wrote to stdout. */
export interface Outcome {
  readonly text: string;
  readonly exitCode: number | null;
  readonly oom: boolean;
}

/**
 * Reads what a program writes to its end.
 * @param onProgress Told the lines by which pip and npm say what they do.
 */
export async function readOutput(process: ProviderProcess, onProgress?: (message: string) => void): Promise<Outcome> {
  const decoder = new TextDecoder();
  const errors = process.stderr.pipeTo(new WritableStream());
  // Where stdout fails too, that is what is told.
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
  const { exitCode, oom = false } = await process.exited;
  return { text, exitCode, oom };
}
