import type { Feature, Support } from "../capabilities.js";

/** What the guest agent does wherever it runs; `agentSession` narrows it to what is found in the box. */
export const agentFeatures: Readonly<Partial<Record<Feature, Support>>> = {
  exec: "native",
  "exec.argv": "native",
  "exec.stdin": "native",
  "exec.stderr": "native",
  "exec.stream": "native",
  "exec.killTree": "native",
  "exec.pty": "native",
  "process.background": "native",
  files: "native",
  "files.stream": "native",
  "files.symlink": "native",
  "files.watch": "native",
  "kernel.python": "native",
  "kernel.javascript": "native",
  "kernel.bash": "native",
  "kernel.interrupt": "native",
  ports: "native",
};
