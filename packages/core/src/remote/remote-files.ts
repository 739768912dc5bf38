import type { ProviderFiles } from "../provider.js";
import { bulkReader, bulkWriter, type UseAgent } from "./bulk-files.js";
import type { BulkFiles } from "./remote-box.js";

/** The files of a remote box: through its agent, and large ones by the vendor's own way where there is one. */
export function remoteFiles(agent: UseAgent, bulk: BulkFiles | undefined): ProviderFiles {
  return {
    read: bulk ? bulkReader(agent, bulk) : async (...args) => agent("files.read").files.read(...args),
    write: bulk ? bulkWriter(agent, bulk) : async (...args) => agent("files.write").files.write(...args),
    list: async (...args) => agent("files.list").files.list(...args),
    stat: async (...args) => agent("files.stat").files.stat(...args),
    mkdir: async (...args) => agent("files.mkdir").files.mkdir(...args),
    move: async (...args) => agent("files.move").files.move(...args),
    remove: async (...args) => agent("files.remove").files.remove(...args),
    symlink: async (...args) => {
      await agent("files.symlink").files.symlink?.(...args);
    },
  };
}
