/**
 * Real bug reports of comparable projects that the suite was checked against: those that no case answers, each with the
 * reason. The others are in the `reports` of the cases.
 */
export const notApplicable: Readonly<Record<string, string>> = {
  "daytonaio/daytona#2918": "is about bundling a vendor's SDK for serverless functions",
  "huggingface/smolagents#2050": "needs the death of the owning process: each provider's own tests kill one",
  "vercel/eve#600": "no secrets are brokered into a sandbox at this layer",
  "cloudflare/agents#2009": "is about what an MCP tool answers: tested with the MCP server",
  "jonnyzzz/mcp-steroid#466": "is about what an MCP tool answers: tested with the MCP server",
};
