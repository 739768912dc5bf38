import { join } from "node:path";
import { refusal } from "../errors.js";
import type { TlsSettings } from "./address.js";
import { readIfThere } from "./read-settings.js";

/** What a client shows to an engine over TLS, and what it believes the engine by. In PEM. */
export interface ClientCertificate {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * The certificates of a folder, by the names that Docker gives them.
 * @throws SandboxError `INVALID`, naming what is missing
 */
export async function certificateIn(
  source: string,
  { directory = "", strict }: TlsSettings,
): Promise<ClientCertificate> {
  const names = ["ca.pem", "cert.pem", "key.pem"] as const;
  const [ca, cert, key] = await Promise.all(names.map((name) => readIfThere(join(directory, name))));
  const missing = names.filter((_, index) => [ca, cert, key][index] === undefined);
  // A key without its certificate is of no use, and neither is a certificate without its key.
  const halved = (cert === undefined) !== (key === undefined);
  if ((strict && missing.length > 0) || halved) {
    const next = "copy them from whoever runs the engine, or leave out DOCKER_TLS_VERIFY and DOCKER_CERT_PATH";
    throw refusal("INVALID", `${source}: ${missing.join(" and ")} not in ${directory}: ${next}`, "connect");
  }
  return { ca, cert, key };
}
