import { posix } from "node:path";
import { SandboxError } from "../errors.js";

/** Another repository, checked. */
export interface RemoteUrl {
  /** What git is given. */
  readonly url: string;
  /** Scheme, host and port, where it speaks HTTP: `https://github.com`. */
  readonly server?: string | undefined;
  /** What a clone of it is called: `widgets` of `https://github.com/acme/widgets.git`. */
  readonly name: string;
}

const withScheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;
/** `git@github.com:acme/widgets.git`: a colon before any slash. */
const scpLike = /^(?:[A-Za-z0-9_][\w.-]*@)?(?:[A-Za-z0-9_][\w.-]*|\[[0-9A-Fa-f:]+\]):(?!:)/;

/**
 * Takes what stands for another repository apart. Anything that git would read as an option or as a program to start
 * is refused, and so is one with a password in it: git would write that to its configuration.
 * @param workdir What paths are relative to.
 * @throws SandboxError `INVALID`
 */
export function parseRemoteUrl(text: string, workdir: string, allowLocal: boolean): RemoteUrl {
  if (typeof text !== "string" || text === "") throw invalid("url", "it is empty");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\x00-\x1f\x7f]/.test(text)) throw invalid(text, "it has control characters");
  if (text.startsWith("-")) throw invalid(text, "git would read it as an option");
  if (/^[A-Za-z0-9+.-]*::/.test(text)) throw invalid(text, "git would start a program for it");
  const scheme = withScheme.exec(text)?.[1]?.toLowerCase();
  if (scheme === "file" || (scheme === undefined && !scpLike.test(text))) {
    if (!allowLocal) throw invalid(text, "it is a place in the sandbox's own files: pass allowLocal to permit that");
    return { url: scheme ? text : posix.resolve(workdir, text), name: nameOf(text) };
  }
  if (scheme === undefined) return { url: text, name: nameOf(text) };
  return parseUrl(text, scheme);
}

function parseUrl(text: string, scheme: string): RemoteUrl {
  const isHttp = scheme === "http" || scheme === "https";
  if (!isHttp && scheme !== "ssh" && scheme !== "git")
    throw invalid(text, `"${scheme}" is none of https, http, ssh and git`);
  if (!URL.canParse(text)) throw invalid(text, "it is no url");
  const parsed = new URL(text);
  if (parsed.hostname === "" || parsed.hostname.startsWith("-") || decode(parsed.username).startsWith("-"))
    throw invalid(text, "it has no proper host");
  if (parsed.password !== "" || (isHttp && parsed.username !== "")) {
    const next = "pass them as credentials, so that they stay out of the command line and of .git/config";
    throw invalid(text, `it has a name or password in it: ${next}`);
  }
  if (!isHttp) return { url: text, name: nameOf(parsed.pathname) };
  return { url: parsed.href, server: parsed.origin, name: nameOf(parsed.pathname) };
}

/**
 * The server that credentials are for, as git writes it.
 * @throws SandboxError `INVALID` for anything but scheme, host and port
 */
export function parseServer(text: string, operation: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  const isServer = parsed && /^https?:$/.test(parsed.protocol) && parsed.hostname !== "" && parsed.username === "";
  if (isServer && parsed.password === "" && parsed.pathname === "/" && parsed.search + parsed.hash === "")
    return parsed.origin;
  const wanted = 'scheme, host and port of a server that speaks HTTP, such as "https://github.com"';
  throw new SandboxError("INVALID", `${operation}: credentials.server is ${wanted}`, { operation });
}

function nameOf(path: string): string {
  const last =
    path
      .replace(/\/+$/, "")
      .replace(/\/?\.git$/, "")
      .split(/[/:]/)
      .at(-1) ?? "";
  return decode(last);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // What is no percent-encoding stands for itself.
    return text;
  }
}

function invalid(url: string, why: string): SandboxError {
  return new SandboxError("INVALID", `${JSON.stringify(withoutSecrets(url))} cannot be cloned: ${why}`, {
    operation: "git.clone",
  });
}

function withoutSecrets(url: string): string {
  return url.replace(/(:\/\/)[^/?#]*@/, "$1…@");
}
