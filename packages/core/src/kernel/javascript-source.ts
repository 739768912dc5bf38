import {
  type AnyNode,
  type ExportDefaultDeclaration,
  type ImportDeclaration,
  type Options,
  type Program,
  parse,
} from "acorn";

/** A cell that its driver can evaluate as a script. */
export interface ScriptCell {
  readonly code: string;
  /** True when its last statement is no expression, so that it has no value. */
  readonly quiet: boolean;
}

const syntax: Options = {
  ecmaVersion: "latest",
  sourceType: "script",
  allowAwaitOutsideFunction: true,
  allowImportExportEverywhere: true,
  allowHashBang: true,
};

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Makes what only modules may hold (`import`, `export`, `import.meta`) calls of the driver's, on the lines where they
 * are. What cannot be parsed stays as it is: the interpreter says what is wrong with it.
 */
export function scriptOf(code: string): ScriptCell {
  const program = parsed(code);
  if (!program) return { code, quiet: false };
  const edits: Edit[] = [];
  for (const node of nodesOf(program)) edits.push(...editsOf(node, code));
  const last = program.body.findLast(({ type }) => type !== "EmptyStatement");
  const quiet = last?.type !== "ExpressionStatement" && last?.type !== "ExportDefaultDeclaration";
  return { code: applied(code, edits), quiet };
}

function parsed(code: string): Program | undefined {
  try {
    return parse(code, syntax);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Every node, without recursion: code of a guest may be nested as deep as the parser can go. */
function* nodesOf(program: Program): Generator<AnyNode> {
  const open: unknown[] = [program];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== "object" || node === null) continue;
    if (Array.isArray(node)) for (const item of node) open.push(item);
    else {
      if (isNode(node)) yield node;
      for (const value of Object.values(node)) if (typeof value === "object") open.push(value);
    }
  }
}

function isNode(value: object): value is AnyNode {
  return "type" in value && typeof value.type === "string" && "start" in value;
}

function editsOf(node: AnyNode, code: string): readonly Edit[] {
  switch (node.type) {
    case "ImportExpression":
      return [{ start: node.start, end: node.start + "import".length, text: "__sandkit__.import" }];
    case "MetaProperty":
      return node.meta.name === "import" ? [{ start: node.start, end: node.end, text: "__sandkit__.meta()" }] : [];
    case "ImportDeclaration":
      return [replacing(node, code, importing(node))];
    case "ExportNamedDeclaration":
      if (node.declaration) return [{ start: node.start, end: node.declaration.start, text: "" }];
      return [replacing(node, code, node.source ? `await __sandkit__.import(${node.source.raw});` : ";")];
    case "ExportAllDeclaration":
      return [replacing(node, code, `await __sandkit__.import(${node.source.raw});`)];
    case "ExportDefaultDeclaration":
      return exportingDefault(node);
    default:
      return [];
  }
}

function exportingDefault({ start, end, declaration }: ExportDefaultDeclaration): readonly Edit[] {
  const named = declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration";
  if (named && declaration.id) return [{ start, end: declaration.start, text: "" }];
  return [
    { start, end: declaration.start, text: "(" },
    { start: declaration.end, end: declaration.end, text: ")" },
    { start: end, end, text: ";" },
  ];
}

/** Keeps the lines that the declaration takes. */
function replacing(node: AnyNode, code: string, text: string): Edit {
  const lines = code.slice(node.start, node.end).split("\n").length - 1;
  return { start: node.start, end: node.end, text: text + "\n".repeat(lines) };
}

function importing({ source, specifiers, attributes }: ImportDeclaration): string {
  const given = attributes.map(({ key, value }) => `${"name" in key ? key.name : key.raw}: ${value.raw}`);
  const options = given.length > 0 ? `, { with: { ${given.join(", ")} } }` : "";
  const names: [imported: string, local: string][] = [];
  let whole = "";
  for (const specifier of specifiers) {
    const local = specifier.local.name;
    if (specifier.type === "ImportNamespaceSpecifier")
      whole = `const ${local} = await __sandkit__.import(${source.raw}${options});`;
    else if (specifier.type === "ImportDefaultSpecifier") names.push(["default", local]);
    else names.push(["name" in specifier.imported ? specifier.imported.name : String(specifier.imported.value), local]);
  }
  if (specifiers.length === 0) return `await __sandkit__.import(${source.raw}${options});`;
  if (names.length === 0) return whole;
  const pattern = names.map(([imported, local]) => `${JSON.stringify(imported)}: ${local}`).join(", ");
  const wanted = JSON.stringify(names.map(([imported]) => imported));
  return `const { ${pattern} } = await __sandkit__.importNames(${source.raw}, ${wanted}${options}); ${whole}`.trimEnd();
}

function applied(code: string, edits: readonly Edit[]): string {
  let [made, from] = ["", 0];
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    made += code.slice(from, start) + text;
    from = end;
  }
  return made + code.slice(from);
}
