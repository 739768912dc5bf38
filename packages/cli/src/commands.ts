import type { CommandSpec } from "./command.js";
import { completionCommand } from "./commands/completion.js";
import { cpCommand } from "./commands/cp.js";
import { createCommand } from "./commands/create.js";
import { doctorCommand } from "./commands/doctor.js";
import { execCommand } from "./commands/exec.js";
import { gcCommand } from "./commands/gc.js";
import { helpCommand } from "./commands/help.js";
import { initCommand } from "./commands/init.js";
import { logsCommand } from "./commands/logs.js";
import { lsCommand } from "./commands/ls.js";
import { mcpCommand } from "./commands/mcp.js";
import { rmCommand } from "./commands/rm.js";
import { runCommand } from "./commands/run.js";
import { shellCommand } from "./commands/shell.js";

const living = [createCommand, lsCommand, execCommand, shellCommand, cpCommand, logsCommand, rmCommand, gcCommand];
const faces = [runCommand, ...living, mcpCommand, initCommand, doctorCommand];
const described = [...faces, completionCommand(() => commands)];

/** Every command, in the order of help: the one table behind parsing, completion, help and `help --json`. */
export const commands: readonly CommandSpec[] = [...described, helpCommand(described)];
