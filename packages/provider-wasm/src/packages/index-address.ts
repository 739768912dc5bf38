import { refusal } from "../errors.js";
import type { PackagesOptions } from "./options.js";
import { isSecureAddress, withSlash } from "./web-address.js";

/** Where the world publishes packages of Python, and where the files lie that are named there. */
const publicIndex = "https://pypi.org/simple/";
const publicFiles = "https://files.pythonhosted.org/";

/**
 * The index to ask, with its credentials; undefined when there is to be none.
 * @param environment In which `PIP_INDEX_URL` may name it.
 * @throws SandboxError `INVALID` for a variable that names none
 */
export function indexAddress({ indexUrl }: PackagesOptions, environment: NodeJS.ProcessEnv): URL | undefined {
  if (indexUrl === false) return undefined;
  if (indexUrl !== undefined) return withSlash(new URL(indexUrl));
  const variable = environment.PIP_INDEX_URL || publicIndex;
  if (isSecureAddress(variable)) return withSlash(new URL(variable));
  const wanted = "the address of an index by https, or by http on this machine: correct it, or give option indexUrl";
  throw refusal("INVALID", `environment variable PIP_INDEX_URL is not ${wanted}`, "packages");
}

/** Hosts that are trusted besides that of the index, wherever they are; with their credentials. */
export function fileAddresses({ fileHosts = [] }: PackagesOptions, index: URL | undefined): URL[] {
  const isPublic = index?.origin === new URL(publicIndex).origin;
  return [...fileHosts, ...(isPublic ? [publicFiles] : [])].map((address) => new URL(address));
}
