import { setTimeout as sleep } from "node:timers/promises";
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
} from "@modelcontextprotocol/server";
import { audio, image } from "./media.mjs";

/** @typedef {import("@modelcontextprotocol/server").ServerContext} Context */
/** @typedef {import("@modelcontextprotocol/server").CallToolResult} CallToolResult */
/** @typedef {import("@modelcontextprotocol/server").InputRequiredResult} InputRequiredResult */
/** @typedef {(input: Record<string, unknown>, context: Context) => Promise<CallToolResult | InputRequiredResult>} Call */
/** @typedef {{ description: string, properties?: Record<string, { type: string }>, schema?: object, call: Call }} TestTool */

/** Seals what a client carries from one round to the next. */
export const rounds = createRequestStateCodec({ key: "conformance conformance conformance" });

/** @param {string} text @returns {CallToolResult} */
const say = (text) => ({ content: [{ type: "text", text }] });

/** @param {string} message @param {Record<string, object>} properties */
const form = (message, properties) =>
  inputRequired.elicit(
    /** @type {Parameters<typeof inputRequired.elicit>[0]} */ ({
      message,
      requestedSchema: { type: "object", properties, required: Object.keys(properties) },
    }),
  );

const askName = form("What is your name?", { name: { type: "string" } });
/** @param {string} text */
const askModel = (text) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 });

/**
 * A tool that asks once and then tells what it was answered, in the words that the suite looks for.
 * @param {string} message
 * @param {Record<string, object>} properties
 * @returns {Call}
 */
const elicits =
  (message, properties) =>
  async (input, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "answer");
    if (answer.kind !== "elicit") {
      return inputRequired({ inputRequests: { answer: form(String(input.message ?? message), properties) } });
    }
    return say(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
  };

const options = ["option1", "option2", "option3"];
const titled = [
  { const: "value1", title: "First" },
  { const: "value2", title: "Second" },
];

/** The one that the suite looks for, keyword by keyword. */
const everyKeyword = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** What the suite calls, by the names that it gives. @type {Readonly<Record<string, TestTool>>} */
export const testTools = {
  test_simple_text: { description: "Text", call: async () => say("This is a simple text response for testing.") },
  test_image_content: { description: "An image", call: async () => ({ content: [image] }) },
  test_audio_content: { description: "A sound", call: async () => ({ content: [audio] }) },
  test_embedded_resource: {
    description: "A resource",
    call: async () => ({ content: [embedded("test://embedded-resource", "text/plain", "An embedded resource.")] }),
  },
  test_multiple_content_types: {
    description: "Text, an image and a resource",
    call: async () => ({
      content: [
        { type: "text", text: "Several kinds of content:" },
        image,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    description: "Fails",
    call: async () => ({ ...say("This tool intentionally returns an error for testing"), isError: true }),
  },
  test_tool_with_progress: { description: "Tells how far it is", call: withProgress },
  test_tool_with_logging: { description: "Logs", call: withLogging },
  // A check waits half a second for this one, however busy the machine is: it does not pause.
  test_logging_tool: { description: "Logs at once", call: logsAtOnce },
  test_sampling: {
    description: "Asks the client's model",
    properties: { prompt: { type: "string" } },
    call: async ({ prompt }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "answer");
      if (answer.kind !== "sampling") return inputRequired({ inputRequests: { answer: askModel(String(prompt)) } });
      return say(`LLM response: ${JSON.stringify(answer.result.content)}`);
    },
  },
  test_elicitation: {
    description: "Asks the user",
    properties: { message: { type: "string" } },
    call: elicits("Who are you?", { username: { type: "string" }, email: { type: "string" } }),
  },
  test_streaming_elicitation: {
    description: "Asks the user",
    call: elicits("Who are you?", { username: { type: "string" } }),
  },
  test_elicitation_sep1034_defaults: {
    description: "Asks with defaults",
    call: elicits("Please check", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }),
  },
  test_elicitation_sep1330_enums: {
    description: "Asks for choices",
    call: elicits("Please choose", {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["One", "Two"] },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    }),
  },
  json_schema_2020_12_tool: {
    description: "Has a schema of every kind",
    schema: everyKeyword,
    call: async () => say("Done."),
  },
  test_missing_capability: {
    description: "Needs sampling",
    call: async (_, { mcpReq }) => {
      if (capabilitiesOf(mcpReq).sampling === undefined) {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      }
      return say("The client can sample.");
    },
  },
  test_input_required_result_elicitation: {
    description: "Asks for a name",
    call: async (_, { mcpReq }) => {
      const name = acceptedContent(mcpReq.inputResponses, "user_name")?.name;
      if (typeof name !== "string") return inputRequired({ inputRequests: { user_name: askName } });
      return say(`Hello, ${name}!`);
    },
  },
  test_input_required_result_sampling: {
    description: "Asks the client's model",
    call: async (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "capital_question");
      if (answer.kind === "sampling") return say(JSON.stringify(answer.result.content));
      return inputRequired({ inputRequests: { capital_question: askModel("What is the capital of France?") } });
    },
  },
  test_input_required_result_list_roots: {
    description: "Asks for roots",
    call: async (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "client_roots");
      if (answer.kind === "roots") return say(answer.roots.map(({ uri }) => uri).join("\n"));
      return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  },
  test_input_required_result_request_state: { description: "Remembers", call: remembers },
  test_input_required_result_tampered_state: { description: "Remembers", call: remembers },
  test_input_required_result_multiple_inputs: {
    description: "Asks for three things at once",
    call: async (_, { mcpReq }) => {
      const kinds = ["user_name", "greeting", "client_roots"].map(
        (key) => inputResponse(mcpReq.inputResponses, key).kind,
      );
      if (!kinds.includes("missing")) return say(`All three: ${kinds.join(", ")}`);
      return inputRequired({
        inputRequests: { user_name: askName, greeting: askModel("Greet"), client_roots: inputRequired.listRoots() },
        requestState: await rounds.mint({ step: 1 }),
      });
    },
  },
  test_input_required_result_multi_round: { description: "Asks twice", call: asksTwice },
  test_input_required_result_capabilities: {
    description: "Asks only for what the client can do",
    call: async (_, { mcpReq }) => {
      const { sampling, elicitation } = capabilitiesOf(mcpReq);
      if (sampling === undefined && elicitation === undefined) return say("Nothing can be asked.");
      return inputRequired({
        inputRequests: { ...(sampling && { model: askModel("Hello?") }), ...(elicitation && { user_name: askName }) },
      });
    },
  },
};

/** @type {Call} */
async function withProgress(_, { mcpReq }) {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    await sleep(50);
  }
  return say("Done.");
}

/** @type {Call} */
async function withLogging(_, { mcpReq }) {
  for (const text of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    await mcpReq.log("info", text);
    await sleep(50);
  }
  return say("Done.");
}

/** @type {Call} */
async function logsAtOnce(_, { mcpReq }) {
  await mcpReq.log("info", "Tool execution started");
  return say("Done.");
}

/** @type {Call} */
async function remembers(_, { mcpReq }) {
  const state = mcpReq.requestState();
  if (state !== undefined && acceptedContent(mcpReq.inputResponses, "confirm")) return say("state-ok");
  return inputRequired({
    inputRequests: { confirm: form("Please confirm", { ok: { type: "boolean" } }) },
    requestState: await rounds.mint({ step: 1 }),
  });
}

/** @type {Call} */
async function asksTwice(_, { mcpReq }) {
  const { step = 0 } = /** @type {{ step?: number }} */ (mcpReq.requestState() ?? {});
  const requestState = await rounds.mint({ step: step + 1 });
  if (step === 0) {
    const step1 = form("Step 1: What is your name?", { name: { type: "string" } });
    return inputRequired({ inputRequests: { step1 }, requestState });
  }
  if (step === 1) {
    const step2 = form("Step 2: What is your favorite color?", { color: { type: "string" } });
    return inputRequired({ inputRequests: { step2 }, requestState });
  }
  return say("Both answers are here.");
}

/** @param {Context["mcpReq"]} request */
function capabilitiesOf({ envelope }) {
  /** @type {import("@modelcontextprotocol/server").ClientCapabilities | undefined} */
  const declared = Reflect.get(envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  return declared ?? {};
}

/**
 * @param {string} uri
 * @param {string} mimeType
 * @param {string} text
 * @returns {CallToolResult["content"][number]}
 */
function embedded(uri, mimeType, text) {
  return { type: "resource", resource: { uri, mimeType, text } };
}
