import type { ProviderFiles } from "../provider.js";
import type { RemoteBox } from "./remote-box.js";

/** The files of a remote box: through its agent, and large ones by the vendor's own way where there is one. */
export function remoteFiles(agent: (operation: string) => ProviderFiles, _box: RemoteBox): ProviderFiles {
  return {
    read: async (...args) => agent("files.read").read(...args),
    write: async (...args) => agent("files.write").write(...args),
    list: async (...args) => agent("files.list").list(...args),
    stat: async (...args) => agent("files.stat").stat(...args),
    mkdir: async (...args) => agent("files.mkdir").mkdir(...args),
    move: async (...args) => agent("files.move").move(...args),
    remove: async (...args) => agent("files.remove").remove(...args),
    symlink: async (...args) => {
      await agent("files.symlink").symlink?.(...args);
    },
  };
}
