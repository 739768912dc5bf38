import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { ownerLabel } from "@sandkit/core/kit";
import type Dockerode from "dockerode";
import { packTar, unpackTar } from "modern-tar";
import { statusOf } from "../errors.js";
import { createdKey, ownerKey } from "../labels.js";

const folder = "/sandkit-seccomp";
const fileName = "profile.json";
/** Longer than it takes to write one: whoever holds the container for so long has died. In milliseconds. */
const abandonedMs = 10_000;
const lookAgainMs = 50;

/**
 * Lists of system calls as Podman wants them: as a file on the engine's machine. They lie in a volume, which no sandbox
 * ever has, and are put there by a container that is never started.
 */
export class PodmanProfiles {
  readonly #dockerode: Dockerode;
  readonly #paths = new Map<string, Promise<string>>();

  constructor(dockerode: Dockerode) {
    this.#dockerode = dockerode;
  }

  /**
   * Path of a profile, on the engine's machine.
   * @param image Any image that is there.
   */
  path(profile: string, image: string): Promise<string> {
    const known = this.#paths.get(profile);
    if (known) return known;
    const path = this.#store(profile, image);
    this.#paths.set(profile, path);
    path.catch(() => this.#paths.delete(profile));
    return path;
  }

  async #store(profile: string, image: string): Promise<string> {
    const name = `sandkit-seccomp-${createHash("sha256").update(profile).digest("hex").slice(0, 16)}`;
    // One that is there already is given back.
    await this.#dockerode.createVolume({ Name: name, Labels: { "sandkit.seccomp": "profile" } });
    const { Mountpoint: place } = await this.#dockerode.getVolume(name).inspect();
    const container = await this.#lock(name, image);
    try {
      // What others may be reading at this moment is not written once more.
      if (!(await has(container, profile))) await write(container, profile);
    } finally {
      await container.remove({ force: true });
    }
    return `${place}/${fileName}`;
  }

  /** The container through which the volume is written: its name is there once, so that one at a time does. */
  async #lock(name: string, image: string): Promise<Dockerode.Container> {
    const since = performance.now();
    for (;;) {
      try {
        return await this.#dockerode.createContainer({
          name,
          Image: image,
          Cmd: ["true"],
          Labels: { [ownerKey]: await ownerLabel(), [createdKey]: String(Date.now()) },
          HostConfig: { NetworkMode: "none", Binds: [`${name}:${folder}`] },
        });
      } catch (error) {
        const held = this.#dockerode.getContainer(name);
        const isHeld = await held.inspect().then(
          () => true,
          () => false,
        );
        if (!isHeld && statusOf(error) !== 409) throw error;
        if (performance.now() - since > abandonedMs) await held.remove({ force: true });
        else await pause(lookAgainMs);
      }
    }
  }
}

/** Whether exactly this profile is there: what is there first may be of an image. */
async function has(container: Dockerode.Container, profile: string): Promise<boolean> {
  if ((await sizeOf(container)) !== Buffer.byteLength(profile)) return false;
  const archive = await container.getArchive({ path: `${folder}/${fileName}` });
  const [entry] = await unpackTar(await buffer(archive));
  return entry?.data !== undefined && Buffer.from(entry.data).equals(Buffer.from(profile));
}

/** Size of the profile that is there; undefined: none. */
async function sizeOf(container: Dockerode.Container): Promise<number | undefined> {
  try {
    const { headers } = (await container.infoArchive({ path: `${folder}/${fileName}` })) as unknown as {
      readonly headers: Readonly<Record<string, string>>;
    };
    const stat = Buffer.from(headers["x-docker-container-path-stat"] ?? "", "base64").toString();
    return (JSON.parse(stat) as { readonly size?: number }).size;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

async function write(container: Dockerode.Container, profile: string): Promise<void> {
  const tar = await packTar([{ header: { name: fileName, size: Buffer.byteLength(profile) }, body: profile }]);
  await container.putArchive(Buffer.from(tar), { path: folder });
}
