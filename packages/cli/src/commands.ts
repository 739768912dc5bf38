import type { CommandSpec } from "./command.js";
import { doctorCommand } from "./commands/doctor.js";
import { gcCommand } from "./commands/gc.js";
import { helpCommand } from "./commands/help.js";
import { initCommand } from "./commands/init.js";
import { lsCommand } from "./commands/ls.js";
import { mcpCommand } from "./commands/mcp.js";
import { runCommand } from "./commands/run.js";

const faces = [runCommand, mcpCommand, initCommand, doctorCommand, lsCommand, gcCommand];

/** Every command, in the order of help: the one table behind parsing, help and `help --json`. */
export const commands: readonly CommandSpec[] = [...faces, helpCommand(faces)];
