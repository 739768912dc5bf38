import type { ProviderSession } from "@sandkit/core";

/** Writes texts by path; their directories are made. */
export async function writeTexts(
  { files }: Pick<ProviderSession, "files">,
  texts: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const [path, text] of Object.entries(texts)) {
    await files.write(path, new Blob([text]).stream(), { mode: "truncate", signal });
  }
}
