// node what-loads.mjs PACKAGE: the files, and the modules of Node, that an import of the package loads.
import { Session } from "node:inspector";

const files = [];
const session = new Session();
session.connect();
session.on("Debugger.scriptParsed", ({ params }) => files.push(params.url));
session.post("Debugger.enable");
files.length = 0;
const before = new Set(process.moduleLoadList);
await import(process.argv[2]);
const builtins = process.moduleLoadList.filter((name) => !before.has(name)).map((name) => name.split(" ")[1]);
process.stdout.write(JSON.stringify({ files: files.filter((url) => url.startsWith("file:")), builtins }));
