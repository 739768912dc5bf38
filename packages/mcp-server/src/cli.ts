#!/usr/bin/env node
import { runMcp } from "./run-mcp.js";

process.exit(await runMcp(process.argv.slice(2)));
