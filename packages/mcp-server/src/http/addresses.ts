const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];
const plainHost = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d+)?$/i;

/** Whether only this machine can connect to it. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** A host as it stands in a URL. */
export function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The names under which clients may reach the server, and the origins whose pages may. */
export class Addresses {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: readonly string[];

  /** @param hosts Beside those of this machine. */
  constructor(hosts: readonly string[], origins: readonly string[]) {
    this.#hosts = new Set([...loopbackHosts, ...hosts.map((host) => host.toLowerCase())]);
    this.#origins = origins;
  }

  /** What is wrong with the header `Host`: a page of another name may have been pointed at this address (DNS rebinding). */
  hostProblem(header: string | undefined): { readonly status: 400 | 403; readonly message: string } | undefined {
    const name = plainHost.exec(header ?? "")?.[1];
    if (name === undefined) {
      return { status: 400, message: "the header Host must be a name or an address, with or without a port" };
    }
    if (this.#hosts.has(name.toLowerCase())) return undefined;
    const message = `this server is not called ${name}: whoever runs it allows that name with --allow-host ${name}`;
    return { status: 403, message };
  }

  /** Requests without `Origin` come from programs; with one, from a page of this machine or of a configured origin. */
  allowsOrigin(header: string | undefined): boolean {
    if (header === undefined || this.#origins.includes(header)) return true;
    if (!URL.canParse(header)) return false;
    return loopbackHosts.includes(new URL(header).hostname);
  }
}
