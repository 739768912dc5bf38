import { SandboxError } from "@sandkit/core";

/**
 * What a sandbox answers, if it does so in time: one that is frozen must not hold up its caller.
 * @throws SandboxError `TIMEOUT`
 */
export async function within<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${what}: the sandbox did not answer in ${timeoutMs / 1000} s: call again, or destroy it`;
    timer = setTimeout(() => reject(new SandboxError("TIMEOUT", message)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
