import type { AnyNode, Identifier, ImportDeclaration, Literal, Node, Program } from "acorn";

/** A cell as the kernel takes it. */
interface JavaScriptCell {
  /** A script of as many lines as the cell has. */
  readonly code: string;
  /** Whether it ends in an expression, whose value is that of the cell. */
  readonly hasValue: boolean;
}

/** Makes a cell out of what a user wrote. Code that cannot be parsed stays as it is: its kernel says what is wrong. */
export type PrepareCell = (code: string) => JavaScriptCell;

/** What stands for `import` where a script may not use it. The kernel defines it. */
const importer = 'globalThis[Symbol.for("sandkit.import")]';

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Loads what cells of JavaScript need before they run: scripts know no `import` and no `export`. */
export async function loadJavaScript(): Promise<PrepareCell> {
  const { parse } = await import("acorn");
  const tryParse = (code: string): Program | undefined => {
    try {
      return parse(code, {
        ecmaVersion: "latest",
        allowAwaitOutsideFunction: true,
        allowHashBang: true,
        allowImportExportEverywhere: true,
      });
    } catch (error) {
      // Also what is nested too deep for the parser.
      if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
      throw error;
    }
  };
  return (code) => {
    // As in every REPL, what may be an object is no block.
    const wrapped = /^\s*\{[\s\S]*[^;\s]\s*$/.test(code) ? `(${code}\n)` : undefined;
    const literal = wrapped === undefined ? undefined : tryParse(wrapped);
    const text = wrapped !== undefined && literal ? wrapped : code;
    const program = literal ?? tryParse(code);
    if (!program) return { code, hasValue: true };
    const last = program.body.findLast((statement) => statement.type !== "EmptyStatement");
    const hasValue = last?.type === "ExpressionStatement" || last?.type === "ExportDefaultDeclaration";
    if (!/\b(?:import|export)\b/.test(text)) return { code: text, hasValue };
    return { code: applied(text, changesIn(program, text)), hasValue };
  };
}

/** Loads the same for TypeScript: its types are taken out first, and lines stay where they are. */
export async function loadTypeScript(): Promise<PrepareCell> {
  const [prepare, { transform }] = await Promise.all([loadJavaScript(), import("sucrase")]);
  return (code) => prepare(withoutTypes(code));

  function withoutTypes(code: string): string {
    try {
      // An import may be for a later cell: only those of types alone go.
      return transform(code, { transforms: ["typescript"], disableESTransforms: true, keepUnusedImports: true }).code;
    } catch (error) {
      if (error instanceof Error) return code;
      throw error;
    }
  }
}

function applied(text: string, changes: readonly Change[]): string {
  let [result, at] = ["", 0];
  for (const { start, end, text: replacement } of [...changes].sort((a, b) => a.start - b.start)) {
    // Lines stay where they are.
    const lines = "\n".repeat(text.slice(start, end).split("\n").length - 1);
    result += text.slice(at, start) + replacement + lines;
    at = end;
  }
  return result + text.slice(at);
}

function changesIn(program: Program, code: string): Change[] {
  const changes: Change[] = [];
  for (const node of nodesOf(program)) {
    const { start, end } = node;
    if (node.type === "ImportDeclaration") changes.push({ start, end, text: importStatement(node, code) });
    else if (node.type === "ImportExpression") changes.push({ start, end: start + "import".length, text: importer });
    else if (node.type === "MetaProperty" && node.meta.name === "import") {
      changes.push({ start, end, text: `${importer}.meta` });
    } else if (node.type === "ExportNamedDeclaration" || node.type === "ExportDefaultDeclaration") {
      changes.push({ start, end: node.declaration?.start ?? end, text: "" });
    } else if (node.type === "ExportAllDeclaration") changes.push({ start, end, text: "" });
  }
  return changes;
}

function importStatement(node: ImportDeclaration, code: string): string {
  const attributes = node.attributes.map(({ key, value }) => `${source(key, code)}: ${source(value, code)}`).join(", ");
  const options = attributes && `, { with: { ${attributes} } }`;
  const from = source(node.source, code);
  const imported: string[] = [];
  const names: string[] = [];
  let all: string | undefined;
  for (const specifier of node.specifiers) {
    const { name } = specifier.local;
    if (specifier.type === "ImportNamespaceSpecifier") {
      all = name;
      continue;
    }
    const wanted = specifier.type === "ImportDefaultSpecifier" ? "default" : nameOf(specifier.imported);
    imported.push(wanted);
    names.push(`${JSON.stringify(wanted)}: ${name}`);
  }
  const loaded = `await ${importer}(${from}${options});`;
  const whole = all === undefined ? "" : `const ${all} = ${loaded}`;
  if (names.length === 0) return whole || loaded;
  const chosen = `await ${importer}.names(${from}, ${JSON.stringify(imported)}${options})`;
  return `const { ${names.join(", ")} } = ${chosen};${whole && ` ${whole}`}`;
}

function nameOf(imported: Identifier | Literal): string {
  return imported.type === "Identifier" ? imported.name : String(imported.value);
}

function source(node: Node, code: string): string {
  return code.slice(node.start, node.end);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Every node, without recursion: code may be nested as deep as the parser can go. */
function* nodesOf(program: Program): Generator<AnyNode> {
  const open: unknown[] = [program];
  while (open.length > 0) {
    const value = open.pop();
    if (Array.isArray(value)) for (const item of value) open.push(item);
    else if (isNode(value)) {
      yield value;
      for (const member of Object.values(value)) open.push(member);
    }
  }
}
