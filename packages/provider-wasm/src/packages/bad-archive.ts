/** A wheel that is not what a wheel must be. The message says how, after the name of the file. */
export class BadArchive extends Error {
  override readonly name = "BadArchive";
}
