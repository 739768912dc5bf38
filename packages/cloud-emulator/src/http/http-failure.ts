/** Thrown by a handler to answer with a status; each front end has its own form for the body. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A vendor's own word for the failure, where its protocol has one. */
  readonly code: string | undefined;

  constructor(
    status: number,
    message: string,
    details: { readonly code?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = details.code;
    this.headers = details.headers ?? {};
  }
}
