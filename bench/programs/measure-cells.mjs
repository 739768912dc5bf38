import { treeRssBytes } from "../tree-rss.mjs";

const laterCells = 50;

/**
 * Runs a first cell and some later ones, and prints what they took as one line of JSON.
 * The first line of output marks the first result: whoever started this program stops the clock there.
 * @param {(code: string) => Promise<unknown>} run
 */
export async function measureCells(run) {
  await expectSum(run);
  console.log("first result");
  const later = [];
  for (let cell = 0; cell < laterCells; cell++) {
    const start = performance.now();
    await expectSum(run);
    later.push(performance.now() - start);
  }
  console.log(JSON.stringify({ later, rssBytes: treeRssBytes(process.pid) }));
}

/** @param {(code: string) => Promise<unknown>} run */
async function expectSum(run) {
  const value = await run("sum(range(100))");
  if (value !== 4950) throw new Error(`the cell gave ${value}, not 4950`);
}
