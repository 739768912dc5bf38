/** How often each thing is measured. `quick` is for a look, `full` for what only shows itself in a thousand. */
const scales = {
  quick: {
    wasm: 2,
    calls: 100,
    execs: 15,
    parallel: 3,
    files: 10,
    bigFiles: 1,
    starts: 2,
    cells: 50,
    trees: 2,
    kills: 2,
    timeouts: 20,
    streamMiB: 64,
  },
  usual: {
    wasm: 7,
    calls: 200,
    execs: 200,
    parallel: 10,
    files: 50,
    bigFiles: 5,
    starts: 10,
    cells: 300,
    trees: 5,
    kills: 10,
    timeouts: 100,
    streamMiB: 1024,
  },
  full: {
    wasm: 7,
    calls: 200,
    execs: 500,
    parallel: 20,
    files: 100,
    bigFiles: 7,
    starts: 20,
    cells: 500,
    trees: 10,
    kills: 100,
    timeouts: 1000,
    streamMiB: 1024,
  },
};

/** @typedef {typeof scales.usual} Scale */

/**
 * @param {{ quick: boolean, full: boolean }} wanted
 * @returns {Scale}
 */
export function scaleFor({ quick, full }) {
  return full ? scales.full : quick ? scales.quick : scales.usual;
}
