import { type Capabilities, capabilities } from "@sandkit/core";

/** Programs that run at one time in one sandbox where nothing else is asked for; more wait for their turn. */
export const usualConcurrentExec = 4;

/** What every sandbox of a provider can do. */
export const wasmCapabilities = (maxConcurrentExec = usualConcurrentExec): Capabilities =>
  capabilities({
    isolation: "wasm",
    features: {
      exec: "emulated",
      "exec.argv": "native",
      "exec.stdin": "native",
      "exec.stderr": "native",
      "exec.stream": "native",
      "exec.killTree": "native",
      "process.background": "native",
      files: "native",
      "files.stream": "native",
      "files.symlink": "native",
      "kernel.python": "native",
      "kernel.javascript": "native",
      "kernel.interrupt": "native",
      "network.none": "native",
      // HTTP and HTTPS alone, done by the caller's process.
      "network.allowlist": "emulated",
      packages: "native",
      "resources.memory": "native",
      "resources.disk": "native",
      "lifetime.ttl": "native",
      "lifetime.idle": "native",
      attach: "native",
      list: "native",
    },
    limits: { maxConcurrentExec },
  });
