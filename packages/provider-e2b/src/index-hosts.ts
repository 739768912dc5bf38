/** Hosts of the indexes that the environment of a sandbox names for pip. */
export function indexHostsOf(env: Readonly<Record<string, string>>): string[] {
  const urls = [env.PIP_INDEX_URL, ...(env.PIP_EXTRA_INDEX_URL?.split(/\s+/) ?? [])];
  return urls.flatMap((url) => (url && URL.canParse(url) ? [new URL(url).hostname] : []));
}
