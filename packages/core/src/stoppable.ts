/**
 * An iteration that can be stopped while its next value is waited for, which a generator's own `return` only does after
 * that has come.
 * @param begin Begins it; it is to fail with the reason of the signal.
 */
export function stoppable<Value>(
  begin: (signal: AbortSignal) => AsyncIterable<Value>,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<Value> {
  const own = new AbortController();
  const values = begin(signal ? AbortSignal.any([signal, own.signal]) : own.signal)[Symbol.asyncIterator]();
  const over = { done: true, value: undefined } as const;
  return {
    async next() {
      if (own.signal.aborted) return over;
      try {
        return await values.next();
      } catch (error) {
        if (own.signal.aborted && error === own.signal.reason) return over;
        throw error;
      }
    },
    async return() {
      own.abort();
      await values.return?.();
      return over;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
