import type { Surface } from "./surface.js";
import type { OptionalTool } from "./tool-names.js";
import { createSandbox } from "./tools/create-sandbox.js";
import { destroySandbox } from "./tools/destroy-sandbox.js";
import { exec } from "./tools/exec.js";
import { exposePort } from "./tools/expose-port.js";
import { listSandboxes } from "./tools/list-sandboxes.js";
import { processTool } from "./tools/process.js";
import { readFile } from "./tools/read-file.js";
import { runCode } from "./tools/run-code.js";
import { snapshotTool } from "./tools/snapshot.js";
import type { Tool } from "./tools/tool.js";
import { writeFile } from "./tools/write-file.js";

const usual = [runCode, exec, processTool, readFile, writeFile, createSandbox, listSandboxes, destroySandbox];
const optional: Readonly<Record<OptionalTool, Tool>> = { expose_port: exposePort, snapshot: snapshotTool };

/** The tools that make sense on this provider, in the order listed to clients. */
export function toolsFor(surface: Surface): readonly Tool[] {
  const fitting = usual.filter((tool) => {
    if (tool === runCode) return surface.languages.length > 0;
    if (tool === exec) return surface.commands !== false;
    if (tool === processTool) return surface.languages.length > 0 || surface.commands !== false;
    return true;
  });
  return [...fitting, ...surface.optional.map((name) => optional[name])];
}
