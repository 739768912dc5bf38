/**
 * Takes stdout for the protocol alone: what is returned writes to it, while `process.stdout.write` and the console
 * (of this program and of any package it loads) go to stderr. It resolves once the client can read what was written.
 */
export function guardStdout(): (text: string) => Promise<void> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return (text) =>
    new Promise((resolve, reject) => {
      write(text, (error) => (error ? reject(error) : resolve()));
    });
}
