const { inspect } = require("node:util");
const { jsonText } = require("./json-text.cjs");

const longestText = 1_000_000;
const longestForm = 12_000_000;
const longestBundle = 16_000_000;
/** JSON up to here is shown whole. */
const longestWhole = 100_000;
const ownForms = Symbol.for("Jupyter.display");

/** Every form of a value by MIME type as JSON text. */
function bundle(value, json = jsonText(value)) {
  return JSON.stringify({ "text/plain": text(value, json), ...formsOf(value) });
}

/** A bundle that the user has made. */
function rawBundle(forms) {
  const encoded = encode(forms);
  const made = jsonText(encoded, longestBundle);
  if (made === undefined || Array.isArray(encoded)) throw new TypeError("display: a raw bundle is an object of JSON");
  return made;
}

function formsOf(value) {
  try {
    if (typeof value?.[ownForms] !== "function") return {};
    const forms = encode(value[ownForms]());
    return jsonText(forms, longestBundle) === undefined ? {} : forms;
  } catch {
    // As in every notebook: forms that fail are left out, the text is shown.
    return {};
  }
}

/** Binary as base64, without what is too large. */
function encode(forms) {
  const encoded = Object.entries(forms).map(([mime, form]) => [
    mime,
    ArrayBuffer.isView(form) ? Buffer.from(form.buffer, form.byteOffset, form.byteLength).toString("base64") : form,
  ]);
  return Object.fromEntries(encoded.filter(([mime, form]) => fits(mime, form)));
}

function fits(mime, form) {
  if (typeof form !== "string" || form.length <= longestForm) return true;
  console.error(`display: ${mime} of ${form.length} characters is left out: ${longestForm} are the most`);
  return false;
}

/** As `console.log` shows it, cut, whatever its own code does. */
function text(value, json) {
  if (typeof value === "string") return cut(value);
  const depth = json !== undefined && json.length <= longestWhole ? 20 : 2;
  try {
    return cut(inspect(value, { depth, maxStringLength: longestText }));
  } catch (error) {
    return `<${typeof value} whose text raised ${messageOf(error)}>`;
  }
}

function cut(whole, most = longestText) {
  return whole.length <= most ? whole : `${whole.slice(0, most)}… (${whole.length - most} more characters)`;
}

function messageOf(error) {
  try {
    return String(error);
  } catch {
    return "something that has no text";
  }
}

module.exports = { bundle, cut, rawBundle, text };
