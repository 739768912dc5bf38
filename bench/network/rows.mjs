/** @typedef {import("../report.mjs").Row} Row */

const ms = /** @type {const} */ ("ms");
/** What is wanted of the proxy: added to a request, in milliseconds, and bytes a second. */
const [mostAddedMs, leastRate] = [5, 80e6];

/**
 * A request by the proxy, against the same one without.
 * @param {string} id
 * @param {string} what
 * @param {{ raw?: number | undefined, sandkit: number }} medians
 * @returns {Row}
 */
export function requestRow(id, what, { raw, sandkit }) {
  return { id, what, unit: ms, raw, sandkit, target: Number(((raw ?? 0) + mostAddedMs).toFixed(1)) };
}

/**
 * A download by the proxy, against the same one without: how long it took, and how many bytes a second that is.
 * @param {string} id
 * @param {string} what
 * @param {number} mebibytes
 * @param {{ raw?: number | undefined, sandkit: number }} took
 * @returns {Row[]}
 */
export function streamRows(id, what, mebibytes, { raw, sandkit }) {
  const bytes = mebibytes * 2 ** 20;
  const amount = mebibytes >= 1024 ? `${mebibytes / 1024} GiB` : `${mebibytes} MiB`;
  const rate = (/** @type {number} */ tookMs) => String(Math.round(bytes / tookMs / 1000));
  return [
    {
      id: `${id}.stream`,
      what: `${what}${amount} by CONNECT`,
      unit: ms,
      raw,
      sandkit,
      target: Math.floor((bytes / leastRate) * 1000),
    },
    { id: `${id}.rate`, what: "  MB/s", unit: "count", raw: raw && rate(raw), sandkit: rate(sandkit) },
  ];
}
