import { image } from "./media.mjs";

/** @typedef {import("@modelcontextprotocol/server").ReadResourceResult} ReadResourceResult */

const text = { uri: "test://static-text", name: "text", description: "A text", mimeType: "text/plain" };
const binary = { uri: "test://static-binary", name: "binary", description: "An image", mimeType: "image/png" };
const watched = { uri: "test://watched-resource", name: "watched", description: "To watch", mimeType: "text/plain" };

/** What the suite reads. */
export const testResources = [text, binary, watched];

export const testTemplate = {
  uriTemplate: "test://template/{id}/data",
  name: "template",
  description: "Data by id",
  mimeType: "application/json",
};

/** @param {string} uri @returns {ReadResourceResult | undefined} undefined for what is not the suite's */
export function readTestResource(uri) {
  if (uri === binary.uri) return { contents: [{ uri, mimeType: "image/png", blob: image.data }] };
  const known = testResources.find((resource) => resource.uri === uri);
  if (known !== undefined) return { contents: [{ uri, mimeType: "text/plain", text: "The content of a text." }] };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { contents: [{ uri, mimeType: "application/json", text: data }] };
}
