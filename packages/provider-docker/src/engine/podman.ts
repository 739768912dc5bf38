import type Dockerode from "dockerode";
import { PodmanProfiles } from "./podman-profiles.js";

/** Mounted by Podman on a read-only root, without a bound, unless something else is; nothing needs them. */
const bounded = { "/run": "rw,nosuid,nodev,size=65536,mode=0755", "/var/tmp": "rw,nosuid,nodev,size=65536,mode=0755" };
const seccompPrefix = "seccomp=";
/** Unless told, Podman asks for more processes than it may have where it has no right to raise limits: in a container. */
const processes = { Name: "nproc", Soft: 32_768, Hard: 32_768 };

/**
 * Docker's options for a container in the words of Podman's API, which differs where this is written: a list of system
 * calls is the name of a file on the engine's machine, and a tmpfs knows fewer options.
 */
export class PodmanDialect {
  readonly #dockerode: Dockerode;
  readonly #profiles: PodmanProfiles;
  #rootless: Promise<boolean> | undefined;

  constructor(dockerode: Dockerode) {
    this.#dockerode = dockerode;
    this.#profiles = new PodmanProfiles(dockerode);
  }

  async translate(options: Dockerode.ContainerCreateOptions): Promise<Dockerode.ContainerCreateOptions> {
    const { HostConfig: host = {}, User: user = "", Image: image = "" } = options;
    const security = (host.SecurityOpt ?? []).map(async (option: string) =>
      option.startsWith(`${seccompPrefix}{`)
        ? seccompPrefix + (await this.#profiles.path(option.slice(seccompPrefix.length), image))
        : option,
    );
    const ulimits = (await this.#isRootless()) ? host.Ulimits : [...(host.Ulimits ?? []), processes];
    const tmpfs = Object.entries({ ...(host.ReadonlyRootfs && bounded), ...host.Tmpfs });
    return {
      ...options,
      HostConfig: {
        ...host,
        ...(ulimits && { Ulimits: ulimits }),
        SecurityOpt: await Promise.all(security),
        Tmpfs: Object.fromEntries(tmpfs.map(([path, text]) => [path, tmpfsOptions(text, user)])),
      },
    };
  }

  /** Without root it gives containers the limits that it has itself. */
  #isRootless(): Promise<boolean> {
    this.#rootless ??= this.#dockerode
      .info()
      .then(({ SecurityOptions = [] }: { readonly SecurityOptions?: readonly string[] }) =>
        SecurityOptions.some((option) => option.includes("name=rootless")),
      );
    this.#rootless.catch(() => {
      this.#rootless = undefined;
    });
    return this.#rootless;
  }
}

/** Inodes cannot be counted there; and a tmpfs belongs to the container's user, or to everybody. */
function tmpfsOptions(text: string, user: string): string {
  const options = text.split(",").filter((option) => !/^(?:nr_inodes|uid|gid)=/.test(option));
  const owner = /(?:^|,)uid=(\d+),gid=(\d+)/.exec(text);
  const isUsers = owner !== null && user === `${owner[1]}:${owner[2]}`;
  const owned = owner === null ? options : isUsers ? [...options, "U"] : options.map(forEverybody);
  // What the image has at that place would be copied into memory, for nobody.
  return [...owned, "notmpcopyup"].join(",");
}

function forEverybody(option: string): string {
  return option.startsWith("mode=") ? "mode=1777" : option;
}
