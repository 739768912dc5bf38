import { acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { image } from "./media.mjs";

/** @typedef {import("@modelcontextprotocol/server").ServerContext} Context */
/** @typedef {import("@modelcontextprotocol/server").GetPromptResult} GetPromptResult */
/** @typedef {import("@modelcontextprotocol/server").InputRequiredResult} InputRequiredResult */
/** @typedef {(input: Record<string, string>, context: Context) => GetPromptResult | InputRequiredResult} Get */
/** @typedef {{ description: string, arguments?: string[], get: Get }} TestPrompt */

/** @param {...GetPromptResult["messages"][number]["content"]} contents @returns {GetPromptResult} */
const user = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });

/** What the suite asks for, by the names that it gives. @type {Readonly<Record<string, TestPrompt>>} */
export const testPrompts = {
  test_simple_prompt: {
    description: "Text",
    get: () => user({ type: "text", text: "This is a simple prompt for testing." }),
  },
  test_prompt_with_arguments: {
    description: "Text with arguments",
    arguments: ["arg1", "arg2"],
    get: ({ arg1, arg2 }) => user({ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }),
  },
  test_prompt_with_embedded_resource: {
    description: "A resource",
    arguments: ["resourceUri"],
    get: ({ resourceUri = "" }) =>
      user(
        { type: "resource", resource: { uri: resourceUri, mimeType: "text/plain", text: "An embedded resource." } },
        { type: "text", text: "Please process the embedded resource above." },
      ),
  },
  test_prompt_with_image: {
    description: "An image",
    get: () => user(image, { type: "text", text: "Please analyze the image above." }),
  },
  test_input_required_result_prompt: {
    description: "Asks first",
    get: (_, { mcpReq }) => {
      const context = acceptedContent(mcpReq.inputResponses, "user_context")?.context;
      if (typeof context === "string") return user({ type: "text", text: `Context: ${context}` });
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: "What context should the prompt use?",
            requestedSchema: { type: "object", properties: { context: { type: "string" } }, required: ["context"] },
          }),
        },
      });
    },
  },
};
