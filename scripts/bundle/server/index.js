import { runMcp } from "@sandkit/mcp-server";

process.exit(await runMcp(process.argv.slice(2)));
