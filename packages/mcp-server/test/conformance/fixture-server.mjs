import { Server } from "@modelcontextprotocol/server";
import { createServer } from "@sandkit/mcp-server";
import { testPrompts } from "./test-prompts.mjs";
import { readTestResource, testResources, testTemplate } from "./test-resources.mjs";
import { rounds, testTools } from "./test-tools.mjs";

/** @typedef {import("@modelcontextprotocol/server").ServerContext} Context */
/** @typedef {(request: any, context: Context) => Promise<any>} Handler */

const capabilities = {
  tools: {},
  resources: { subscribe: true },
  prompts: {},
  completions: {},
  logging: {},
};

/** Our server with what the conformance suite calls beside our own tools: names, prompts and resources of its own. */
class FixtureServer extends Server {
  constructor() {
    super(
      { name: "sandkit-conformance", version: "0.0.0" },
      {
        capabilities,
        cacheHints: { "tools/list": { ttlMs: 3_600_000, cacheScope: "public" } },
        requestState: { verify: rounds.verify },
      },
    );
  }

  /**
   * Puts the suite's part in front of each handler of ours.
   * @override
   * @param {any} method
   * @param {any} handler
   */
  setRequestHandler(method, handler) {
    const extend = extensions[method];
    super.setRequestHandler(method, extend === undefined ? handler : extend(handler));
  }
}

/** @type {Record<string, (ours: Handler) => Handler>} */
const extensions = {
  "tools/list": (ours) => async (request, context) => {
    const { tools, ...rest } = await ours(request, context);
    return { ...rest, tools: [...tools, ...Object.entries(testTools).map(describe)] };
  },
  "tools/call": (ours) => async (request, context) => {
    const { name, arguments: input = {} } = request.params;
    return await (testTools[name]?.call(input, context) ?? ours(request, context));
  },
  "resources/list": () => async () => ({ resources: testResources }),
  "resources/templates/list": (ours) => async (request, context) => {
    const { resourceTemplates } = await ours(request, context);
    return { resourceTemplates: [...resourceTemplates, testTemplate] };
  },
  "resources/read": (ours) => async (request, context) =>
    readTestResource(request.params.uri) ?? (await ours(request, context)),
};

/** @param {[string, import("./test-tools.mjs").TestTool]} entry */
function describe([name, { description, properties = {}, schema }]) {
  const simple = { type: "object", properties, required: Object.keys(properties) };
  return { name, description, inputSchema: schema ?? simple };
}

/** @type {typeof createServer} */
export const createFixtureServer = (runtime, principal) => {
  const server = createServer(runtime, principal, new FixtureServer());
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(testPrompts).map(([name, { description, arguments: names = [] }]) => ({
      name,
      description,
      arguments: names.map((argument) => ({ name: argument, description: argument, required: true })),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    const prompt = testPrompts[params.name];
    if (prompt === undefined) throw new Error(`there is no prompt ${params.name}`);
    return prompt.get(params.arguments ?? {}, context);
  });
  server.setRequestHandler("completion/complete", () => ({ completion: { values: [], total: 0, hasMore: false } }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  return server;
};
