/** @param {readonly number[]} values */
export function median(values) {
  const sorted = ascending(values);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The smallest value that this share of all does not exceed.
 * @param {readonly number[]} values
 * @param {number} share Such as 0.99.
 */
export function quantile(values, share) {
  const sorted = ascending(values);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** @param {readonly number[]} values */
function ascending(values) {
  return [...values].sort((a, b) => a - b);
}
