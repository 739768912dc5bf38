const { types } = require("node:util");
const { cut, text } = require("./display.cjs");

const longestName = 1_000;
const longestMessage = 100_000;
/** Frames that are not the user's. */
const ours = /\bsandkit:|\bnode:inspector\b/;
const internal = /^\s+at (?:.*\()?node:/;

/** Has stacks be without the frames that run cells, wherever they are printed. */
function installStacks() {
  Error.prepareStackTrace = (error, frames) => {
    const shown = frames.map((frame) => `\n    at ${frame}`).filter((frame) => !ours.test(frame));
    return header(error) + shown.join("");
  };
}

function header(error) {
  try {
    const { code, name } = error;
    const told = Error.prototype.toString.call(error);
    return typeof code === "string" && code.startsWith("ERR_") ? told.replace(name, `${name} [${code}]`) : told;
  } catch {
    return "Error";
  }
}

/** Name, message and traceback of what was thrown, with the frames of the cells and what they called. */
function describe(error, source) {
  const isError = types.isNativeError(error) || guarded(() => error instanceof Error) === true;
  const name = cut(
    guarded(() => nameOf(error, isError)),
    longestName,
  );
  const message = cut(
    guarded(() => (isError ? String(error.message) : plain(error))),
    longestMessage,
  );
  return { name, message, traceback: cut(`${trace(error, isError, source)}\n`) };
}

function nameOf(error, isError) {
  if (error === null || error === undefined) return String(error);
  const kind = error.constructor?.name;
  return String((isError && error.name !== "Error" && error.name) || kind || "Error");
}

function plain(value) {
  return typeof value === "string" ? value : text(value);
}

function trace(error, isError, { place, name, code }) {
  const told = isError ? text(error) : `Uncaught ${text(error)}`;
  const lines = told.split("\n").filter((line) => !internal.test(line));
  if (!place || lines.some((line) => line.includes("    at "))) return lines.join("\n");
  const shown = code.split("\n")[place.line - 1];
  return [`${name}:${place.line}`, shown, `${" ".repeat(place.column)}^`, ...lines]
    .filter((line) => line !== undefined)
    .join("\n");
}

function guarded(read) {
  try {
    return read();
  } catch {
    return "<raised another error>";
  }
}

module.exports = { describe, installStacks };
