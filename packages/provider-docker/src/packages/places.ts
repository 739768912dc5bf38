/** Where the packages of a set are, in the box that installs them and in the sandboxes that have them. */
export const places = {
  root: "/opt/sandkit",
  /** What pip takes for a user's own directory. */
  python: "/opt/sandkit/python",
  /** Where npm works: `node_modules` is below. */
  node: "/opt/sandkit/node",
} as const;

/** Where their programs are. */
const programs = [`${places.python}/bin`, `${places.node}/node_modules/.bin`];

/** The environment of an image with the programs of a set before its own, as `NAME=value`. */
export function withPrograms(env: readonly string[]): readonly string[] {
  const path = env.find((entry) => entry.startsWith("PATH="))?.slice("PATH=".length);
  const own = path || "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  return [...env.filter((entry) => !entry.startsWith("PATH=")), `PATH=${[...programs, own].join(":")}`];
}
