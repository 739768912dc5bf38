import type Dockerode from "dockerode";
import { statusOf } from "../errors.js";
import { PodmanProfiles } from "./podman-profiles.js";

/** Mounted by Podman on a read-only root, to be written to without a bound, unless something else is; nothing needs them. */
const closed = "ro,nosuid,nodev,size=65536,mode=0755";
const closedPlaces = { "/run": closed, "/var/tmp": closed };
const seccompPrefix = "seccomp=";
/** Unless told, Podman asks for more processes than it may have where it has no right to raise limits: in a container. */
const processes = { Name: "nproc", Soft: 32_768, Hard: 32_768 };

/**
 * Docker's options for a container in the words of Podman's API, which differs where this is written: a list of system
 * calls is the name of a file on the engine's machine, and a tmpfs knows fewer options.
 */
export class PodmanDialect {
  readonly #dockerode: Dockerode;
  readonly #isRootless: () => Promise<boolean>;
  /** Whether an image has a check of its health, by its id. */
  readonly #checks = new Map<string, boolean>();
  readonly #profiles: PodmanProfiles;

  /** @param isRootless Without root it gives containers the limits that it has itself. */
  constructor(dockerode: Dockerode, isRootless: () => Promise<boolean>) {
    this.#dockerode = dockerode;
    this.#isRootless = isRootless;
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
    const tmpfs = Object.entries({ ...(host.ReadonlyRootfs && closedPlaces), ...host.Tmpfs });
    // That there is to be no check is itself a check to it, for which it asks the init system for a timer.
    const { Healthcheck: none, ...others } = options;
    return {
      ...others,
      ...((await this.#hasCheck(image)) && { Healthcheck: none }),
      HostConfig: {
        ...host,
        ...(ulimits && { Ulimits: ulimits }),
        SecurityOpt: await Promise.all(security),
        Tmpfs: Object.fromEntries(tmpfs.map(([path, text]) => [path, tmpfsOptions(text, user)])),
      },
    };
  }

  /** Takes an image a name of it; the image goes with its last one, unless a container has it. */
  async removeName(name: string): Promise<void> {
    const image = this.#dockerode.getImage(name);
    const { Id, RepoTags } = await image.inspect();
    try {
      await image.remove();
    } catch (error) {
      if (statusOf(error) !== 409) throw error;
      // By force it would remove the containers too.
      const full = RepoTags.find((tag) => tag === name || tag.endsWith(`/${name}`)) ?? name;
      await untag(this.#dockerode, Id, full);
    }
  }

  async #hasCheck(image: string): Promise<boolean> {
    const known = this.#checks.get(image);
    if (known !== undefined) return known;
    const { Config } = await this.#dockerode.getImage(image).inspect();
    const has = "Healthcheck" in Config && Config.Healthcheck !== null;
    this.#checks.set(image, has);
    return has;
  }
}

/** Docker's API has nothing for this. */
function untag(dockerode: Dockerode, image: string, name: string): Promise<void> {
  const colon = name.lastIndexOf(":");
  const options = { repo: name.slice(0, colon), tag: name.slice(colon + 1) };
  const path = `/v4.0.0/libpod/images/${image.replace("sha256:", "")}/untag?`;
  const statusCodes = { 200: true, 201: true, 404: "no such image", 500: "server error" };
  return new Promise((resolve, reject) => {
    dockerode.modem.dial({ path, method: "POST", options, statusCodes }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
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
