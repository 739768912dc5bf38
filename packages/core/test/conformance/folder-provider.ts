import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Capabilities, capabilities } from "../../src/capabilities.js";
import { defineProvider } from "../../src/define-provider.js";
import { SandboxError } from "../../src/errors.js";
import type { FileInfo, Provider, ProviderFiles, ProviderSession } from "../../src/provider.js";
import { SessionRegistry } from "../../src/session-registry.js";

const declared = capabilities({ isolation: "none", features: { files: "native", attach: "native", list: "native" } });

/** A provider that is as small as one can be: a sandbox is a folder, and nothing runs in it. */
export function folders(features: Capabilities = declared): Provider {
  const registry = new SessionRegistry("folders");
  return defineProvider({
    name: "folders",
    capabilities: features,
    create: (options) => registry.create(options, ({ id }) => makeFolder(id, features)),
    attach: (ref) => registry.attach(ref),
    list: (options) => registry.list(options),
  });
}

async function makeFolder(id: string, features: Capabilities): Promise<ProviderSession> {
  const workdir = await mkdtemp(join(tmpdir(), "sandkit-folder-"));
  const ref = { provider: "folders", id };
  return {
    ref,
    workdir,
    capabilities: features,
    files: folderFiles,
    async spawn() {
      throw new SandboxError("UNSUPPORTED", "nothing runs in a folder", { provider: "folders" });
    },
    info: async () => ({
      ref,
      state: "running",
      origin: "created",
      createdAt: new Date(),
      labels: {},
      shells: [],
      interpreters: [],
    }),
    destroy: () => rm(workdir, { recursive: true, force: true }),
  };
}

const folderFiles: ProviderFiles = {
  read: async (path) => new Blob([await known(path, readFile(path))]).stream(),
  async write(path, data) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, data);
  },
  list: async (path) => Promise.all((await known(path, readdir(path))).sort().map((name) => infoOf(join(path, name)))),
  stat: (path) => infoOf(path),
  async mkdir(path) {
    await mkdir(path, { recursive: true });
  },
  move: (from, to) => known(from, rename(from, to)),
  async remove(path, { recursive }) {
    await known(path, rm(path, { recursive }));
    return true;
  },
};

async function infoOf(path: string): Promise<FileInfo> {
  const { size, mode, mtime, isDirectory } = await known(path, stat(path));
  return { path, type: isDirectory() ? "directory" : "file", size, mode: mode & 0o777, modifiedAt: mtime };
}

async function known<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new SandboxError("FILE_NOT_FOUND", `${path}: nothing there`, { provider: "folders", cause });
  }
}
