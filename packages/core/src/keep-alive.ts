/** Waits for work that by itself would not keep the program alive. */
export async function keepAlive<T>(work: Promise<T>): Promise<T> {
  const hold = setTimeout(() => undefined, 2 ** 31 - 1);
  try {
    return await work;
  } finally {
    clearTimeout(hold);
  }
}
