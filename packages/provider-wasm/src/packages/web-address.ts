/** Whether a host is this machine by its very name. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether packages may come from an address: by https, or from this machine. */
export function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** The same for what is written in options and variables. */
export function isSecureAddress(text: string): boolean {
  return URL.canParse(text) && isSecure(new URL(text));
}

/** An address below which names are looked up. */
export function withSlash(url: URL): URL {
  return url.pathname.endsWith("/") ? url : new URL(`${url.pathname}/`, url);
}

/** The address without name and password. */
export function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare;
}

/** The address as people may see it: without a password, and without what may stand for one. */
export function shown(url: URL): string {
  return url.origin + url.pathname;
}

/** What to send as `authorization`; undefined for an address without a name. */
export function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}
