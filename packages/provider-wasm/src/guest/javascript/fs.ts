/** Node's `fs`, in its forms that block; builtins.ts makes the others of them. */
export { constants } from "./fs-constants.js";
export {
  appendFileSync,
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "./fs-descriptors.js";
export { Dirent, Stats } from "./fs-stats.js";
export {
  accessSync,
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
} from "./fs-tree.js";
