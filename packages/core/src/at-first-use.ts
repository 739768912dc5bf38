/** A value that is made when it is first asked for. */
export interface FirstUse<Value> {
  get(): Promise<Value>;
  /** Undefined when nobody has asked for it, or making it failed. */
  readonly made: Promise<Value> | undefined;
}

/** Makes a value at its first use, once. A failed attempt is not kept: what was missing may be there the next time. */
export function atFirstUse<Value>(make: () => Promise<Value>): FirstUse<Value> {
  let made: Promise<Value> | undefined;
  return {
    get() {
      made ??= make().catch((error: unknown) => {
        made = undefined;
        throw error;
      });
      return made;
    },
    get made() {
      return made;
    },
  };
}
