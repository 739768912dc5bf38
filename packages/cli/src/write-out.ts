/**
 * Writes to stdout, no faster than it is read. False once nobody reads it any more: there is nothing left to do then, and
 * the exit code is seen to.
 */
export async function writeOut(bytes: Uint8Array): Promise<boolean> {
  return await new Promise((resolve) => process.stdout.write(bytes, (error) => resolve(!error)));
}
