import { brief } from "./brief.js";
import { parseSpecifiers, satisfies } from "./specifier.js";
import { parseVersion } from "./version.js";

/** What markers may ask about, as PEP 508 names it. */
export type MarkerEnvironment = Readonly<Record<string, string>>;

/** A condition under which a requirement holds. */
export type Marker = (environment: MarkerEnvironment) => boolean;

const variables = new Set([
  "os_name",
  "sys_platform",
  "platform_machine",
  "platform_python_implementation",
  "platform_release",
  "platform_system",
  "platform_version",
  "python_version",
  "python_full_version",
  "implementation_name",
  "implementation_version",
  "extra",
]);
const versions = new Set(["python_version", "python_full_version", "implementation_version"]);
const operators = new Set(["<", "<=", "==", "!=", ">", ">=", "~=", "===", "in", "not in"]);
const token = /\s*(\(|\)|"[^"]*"|'[^']*'|===|~=|==|!=|<=|>=|<|>|not\s+in\b|[a-z_][a-z0-9_.]*)/giy;
/** Parentheses within one another. */
const deepest = 50;

/**
 * The environment of a Python, for markers.
 * @param python Full version, such as `3.14.2`.
 */
export function wasmEnvironment(python: string): MarkerEnvironment {
  return {
    os_name: "posix",
    sys_platform: "emscripten",
    platform_machine: "wasm32",
    platform_python_implementation: "CPython",
    platform_release: "",
    platform_system: "Emscripten",
    platform_version: "",
    python_version: python.split(".").slice(0, 2).join("."),
    python_full_version: python,
    implementation_name: "cpython",
    implementation_version: python,
    extra: "",
  };
}

/** @throws SyntaxError for what is no marker */
export function parseMarker(text: string): Marker {
  const tokens = tokensOf(text);
  const marker = parseOr(tokens, 0);
  if (tokens.length > 0) throw new SyntaxError(`marker "${brief(text)}": "${brief(tokens[0] ?? "")}" is one too many`);
  return marker;
}

function tokensOf(text: string): string[] {
  const found: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.trimEnd().length) {
    const match = token.exec(text);
    if (!match) throw new SyntaxError(`"${brief(text)}" is no marker`);
    found.push((match[1] ?? "").replace(/\s+/g, " "));
  }
  return found;
}

function parseOr(tokens: string[], depth: number): Marker {
  let left = parseAnd(tokens, depth);
  while (tokens[0] === "or") {
    tokens.shift();
    const [first, second] = [left, parseAnd(tokens, depth)];
    left = (environment) => first(environment) || second(environment);
  }
  return left;
}

function parseAnd(tokens: string[], depth: number): Marker {
  let left = parseTerm(tokens, depth);
  while (tokens[0] === "and") {
    tokens.shift();
    const [first, second] = [left, parseTerm(tokens, depth)];
    left = (environment) => first(environment) && second(environment);
  }
  return left;
}

function parseTerm(tokens: string[], depth: number): Marker {
  if (tokens[0] !== "(") return parseComparison(tokens);
  if (depth >= deepest) throw new SyntaxError("a marker has too many parentheses");
  tokens.shift();
  const inner = parseOr(tokens, depth + 1);
  if (tokens.shift() !== ")") throw new SyntaxError("a parenthesis of a marker is never closed");
  return inner;
}

interface Operand {
  readonly variable?: string | undefined;
  /** Of what is no variable. */
  readonly text?: string | undefined;
  readonly valueIn: (environment: MarkerEnvironment) => string;
}

function parseComparison(tokens: string[]): Marker {
  const left = parseOperand(tokens.shift());
  const operator = tokens.shift() ?? "";
  if (!operators.has(operator)) throw new SyntaxError(`"${brief(operator)}" compares nothing in a marker`);
  const right = parseOperand(tokens.shift());
  const about = left.variable ?? right.variable ?? "";
  if (operator === "~=" && !isAboutVersions(about, left, right)) {
    throw new SyntaxError("~= in a marker needs a variable that is a version, and a version of at least two parts");
  }
  return (environment) => compare(about, left.valueIn(environment), operator, right.valueIn(environment));
}

function parseOperand(text = ""): Operand {
  if (/^["']/.test(text)) return { text: text.slice(1, -1), valueIn: () => text.slice(1, -1) };
  // Older metadata writes `os.name` and `python_implementation`.
  const variable = text === "python_implementation" ? "platform_python_implementation" : text.replaceAll(".", "_");
  if (!variables.has(variable)) throw new SyntaxError(`"${brief(text)}" is no variable of markers`);
  return { variable, valueIn: (environment) => environment[variable] ?? "" };
}

/** Every comparison but `~=` is one of texts too, where there are no versions. */
function isAboutVersions(about: string, left: Operand, right: Operand): boolean {
  const [own, wanted] = [left, right].map(({ variable, text }) => (variable === undefined ? text : "3.14"));
  return versions.has(about) && compareVersions(own ?? "", "~=", wanted ?? "") !== undefined;
}

function compare(about: string, left: string, operator: string, right: string): boolean {
  if (operator === "in") return right.includes(left);
  if (operator === "not in") return !right.includes(left);
  const answer = versions.has(about) ? compareVersions(left, operator, right) : undefined;
  if (answer !== undefined) return answer;
  const [a = "", b = ""] =
    about === "extra" ? [left, right].map((name) => name.toLowerCase().replace(/[-_.]+/g, "-")) : [left, right];
  if (operator === "==" || operator === "===") return a === b;
  if (operator === "!=") return a !== b;
  return operator.startsWith("<") ? a < b || (operator === "<=" && a === b) : a > b || (operator === ">=" && a === b);
}

/** Undefined for what are no versions, or cannot be compared so. */
function compareVersions(left: string, operator: string, right: string): boolean | undefined {
  const own = parseVersion(left);
  try {
    return own && satisfies(own, parseSpecifiers(operator + right));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
