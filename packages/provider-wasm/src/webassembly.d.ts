/** The parts of the WebAssembly API in use; Node's types only name them and the DOM's library is not for a server. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }
  class Memory {
    constructor(pages: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  type Exports = Record<string, unknown>;
  type Imports = Record<string, Record<string, unknown>>;
  function validate(bytes: Uint8Array): boolean;
}
