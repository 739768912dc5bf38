import type { Surface } from "./surface.js";
import { createSandbox } from "./tools/create-sandbox.js";
import { destroySandbox } from "./tools/destroy-sandbox.js";
import { exec } from "./tools/exec.js";
import { listSandboxes } from "./tools/list-sandboxes.js";
import { processTool } from "./tools/process.js";
import { readFile } from "./tools/read-file.js";
import { runCode } from "./tools/run-code.js";
import type { Tool } from "./tools/tool.js";
import { writeFile } from "./tools/write-file.js";

const all = [runCode, exec, processTool, readFile, writeFile, createSandbox, listSandboxes, destroySandbox];

/** The tools that make sense on this provider, in the order listed to clients. */
export function toolsFor(surface: Surface): readonly Tool[] {
  return all.filter((tool) => {
    if (tool === runCode) return surface.languages.length > 0;
    if (tool === exec) return surface.commands !== false;
    if (tool === processTool) return surface.languages.length > 0 || surface.commands !== false;
    return true;
  });
}
