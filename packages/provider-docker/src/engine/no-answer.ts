import { readFile, stat } from "node:fs/promises";
import { wordsOf } from "../errors.js";
import type { EngineAddress } from "./address.js";
import { UnfitEngine } from "./identity.js";

/** Why nobody could be spoken to at one address. */
export interface NoAnswer {
  /** In a few words, after the address. */
  readonly why: string;
  /** What would help; absent when nobody is there at all. */
  readonly fix?: string | undefined;
}

/** Failures of a socket or of a name. */
const plain: Readonly<Record<string, NoAnswer>> = {
  ENOENT: { why: "nothing is there" },
  ECONNREFUSED: { why: "nobody listens" },
  ENOTFOUND: { why: "no machine has that name", fix: "check the name in the address" },
  EAI_AGAIN: { why: "its name cannot be looked up now", fix: "check the network and the name in the address" },
  EHOSTUNREACH: { why: "no way leads there", fix: "check the network" },
  ENETUNREACH: { why: "no way leads there", fix: "check the network" },
  ECONNRESET: {
    why: "it hung up",
    fix: "check whether that port wants TLS (DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH), or none",
  },
};

const getCertificate = "put the ca.pem, cert.pem and key.pem that its owner has made for you into DOCKER_CERT_PATH";
/** A server may tell what it has against a certificate, and its end of the connection be heard before that. */
const hungUp: NoAnswer = {
  why: "it hung up over TLS, as one does that does not accept our certificate",
  fix: getCertificate,
};

/** What is said of certificates, by the codes of OpenSSL that Node gives. */
const certificates: readonly (readonly [RegExp, NoAnswer])[] = [
  [
    /WRONG_VERSION_NUMBER|EPROTO|PACKET_LENGTH_TOO_LONG/,
    {
      why: "it does not speak TLS",
      fix: "leave out DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, or use its TLS port (2376)",
    },
  ],
  [
    /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE|CERTIFICATE_UNKNOWN/,
    { why: "it does not accept our certificate", fix: getCertificate },
  ],
  [
    /ALTNAME_INVALID/,
    {
      why: "its certificate is of another name",
      fix: "use the name in its certificate, or have one made for this name",
    },
  ],
  [
    /CERT_HAS_EXPIRED|NOT_YET_VALID/,
    { why: "its certificate is not valid now", fix: "have its owner renew it; check the clock" },
  ],
  [
    /SELF_SIGNED|UNABLE_TO|CERT_|INVALID_CA|CERT_UNTRUSTED/,
    {
      why: "its certificate is signed by nobody known here",
      fix: "put the ca.pem that signed it into DOCKER_CERT_PATH",
    },
  ],
];

/** ssh says what is wrong in words alone, and ends with the same code for all of it. */
const ssh: readonly (readonly [RegExp, (target: string) => NoAnswer])[] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    (target) => ({
      why: "its host key is another than before",
      fix: `ask its owner whether that is right; if so: ssh-keygen -R ${target}, then connect by hand once: ssh ${target}`,
    }),
  ],
  [
    /Host key verification failed|No .* host key is known/,
    (target) => ({ why: "its host key is unknown here", fix: `connect by hand once and check the key: ssh ${target}` }),
  ],
  [
    /Permission denied \([a-z-,]+\)|Too many authentication failures/,
    (target) => ({
      why: "it lets nobody in with the keys of this user",
      fix: `add a key that it knows (ssh-add), so that "ssh ${target}" asks for nothing`,
    }),
  ],
  [
    /not found|No such file/,
    (target) => ({
      why: "the machine has no docker command line there",
      fix: `install it for the user of "ssh ${target}"`,
    }),
  ],
  [
    /permission denied|connect: permission denied/,
    (target) => ({
      why: "the user there may not connect to the engine",
      fix: `on that machine: sudo usermod -aG docker USER, then check with: ssh ${target} docker info`,
    }),
  ],
  [
    /Cannot connect to the Docker daemon|connection refused|no such file/,
    (target) => ({ why: "no engine runs on that machine", fix: `start it; check with: ssh ${target} docker info` }),
  ],
];

/** Why a try to speak to an engine failed. */
export async function noAnswer(address: EngineAddress, error: unknown, patienceMs: number): Promise<NoAnswer> {
  if (error instanceof UnfitEngine) return { why: error.message, fix: "update or change what runs there" };
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const words = wordsOf(error);
  if (code === "ABORT_ERR") {
    return {
      why: `no answer within ${patienceMs / 1000} s`,
      fix: "check that it is up, and that no firewall is between",
    };
  }
  if (code === "EACCES" || code === "EPERM") return mayNot(address.connection?.socketPath?.toString() ?? "");
  if (code === "ESSH") return sshTrouble(address, words);
  if (code === "ECONNRESET" && address.connection?.protocol === "https") return hungUp;
  const known = plain[code] ?? certificates.find(([codes]) => codes.test(code))?.[1];
  if (known) return known;
  if (/HTTP request (?:was sent )?to an HTTPS server/i.test(words)) {
    return { why: "it speaks TLS alone", fix: "set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH" };
  }
  return { why: words, fix: "check that an engine listens there" };
}

function sshTrouble({ ssh: target, url }: EngineAddress, words: string): NoAnswer {
  const name = target ? `${target.user ? `${target.user}@` : ""}${target.host}` : url;
  const by = target?.port ? `-p ${target.port} ${name}` : name;
  const known = ssh.find(([pattern]) => pattern.test(words))?.[1](by);
  const last = (words.split("\n").at(-1) ?? words).replace(/^ssh: /, "");
  if (known) return { ...known, why: `${known.why} (ssh: ${last})` };
  return { why: `ssh: ${last}`, fix: `make "ssh ${by} docker info" work without a question` };
}

/** Which group may connect to a socket that this user may not. */
async function mayNot(path: string): Promise<NoAnswer> {
  const why = "this user may not connect";
  const found = await stat(path).catch(() => undefined);
  if (!found) {
    const fix = "use an engine of your own user: rootless Docker, or systemctl --user enable --now podman.socket";
    return { why: `${why}, nor look into its folder`, fix };
  }
  const group = await groupName(found.gid);
  if (found.gid === 0 || (found.mode & 0o060) !== 0o060) {
    const next = "have its owner open it to a group, or use an engine of your own user (rootless Docker or Podman)";
    return { why: `${why}: it is root's alone`, fix: next };
  }
  return {
    why: `${why}: members of group ${group} may`,
    fix: `join it (which is as much as root there): sudo usermod -aG ${group} $USER, then log in again`,
  };
}

async function groupName(id: number): Promise<string> {
  const groups = await readFile("/etc/group", "utf8").catch(() => "");
  const line = groups.split("\n").find((entry) => entry.split(":")[2] === String(id));
  return line?.split(":")[0] ?? String(id);
}
