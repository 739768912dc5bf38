/** What a person can do next, and the command that does it where there is one. */
export interface Fix {
  readonly text: string;
  readonly command?: string | undefined;
}

/** The command line is wrong: exit code 2. The message says what is wrong, `fix` what to write instead. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly fix: readonly Fix[];

  constructor(message: string, fix: readonly Fix[]) {
    super(message);
    this.fix = fix;
  }
}
