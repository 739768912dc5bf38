import { treeRssBytes } from "../tree-rss.mjs";

const [laterCells, workCells] = [50, 5];
/** Calls, objects, text and sorting, for a good 100 ms; what it takes is measured in Python. */
const work = `import json, re, time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
start = time.perf_counter()
fib(23)
records = json.loads(json.dumps([{"id": n, "name": f"name {n * 7919 % 10007}"} for n in range(10_000)]))
records.sort(key=lambda record: record["name"])
re.findall(r"(\\w+) (\\d+)", " ".join(record["name"] for record in records))
(time.perf_counter() - start) * 1000`;

/**
 * Runs a first cell, some later ones and some that work, and prints what they took as one line of JSON.
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
  const rssBytes = treeRssBytes(process.pid);
  const works = [];
  for (let cell = 0; cell < workCells; cell++) works.push(await run(work));
  console.log(JSON.stringify({ later, work: works, rssBytes }));
}

/** @param {(code: string) => Promise<unknown>} run */
async function expectSum(run) {
  const value = await run("sum(range(100))");
  if (value !== 4950) throw new Error(`the cell gave ${value}, not 4950`);
}
