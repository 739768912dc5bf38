import { loadJavaScript, loadTypeScript, type PrepareCell } from "@sandkit/core/kit";
import type { Program } from "acorn";

/** Makes the message of one cell for QuickJS's driver out of what a user wrote. */
export type EncodeCell = (code: string) => string;

const languages = { javascript: loadJavaScript, typescript: loadTypeScript };

/** Loads what a language needs before its first cell. */
export async function loadCells(language: keyof typeof languages): Promise<EncodeCell> {
  const [prepare, { parse }] = await Promise.all([languages[language](), import("acorn")]);
  const tryParse = (code: string): Program | undefined => {
    try {
      return parse(code, { ecmaVersion: "latest", allowAwaitOutsideFunction: true, allowHashBang: true });
    } catch (error) {
      // Also what is nested too deep for the parser.
      if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
      throw error;
    }
  };
  return (code) => JSON.stringify(redeclarable(prepare(code), tryParse));
}

type PreparedCell = ReturnType<PrepareCell>;

/**
 * Lets a later cell declare the same names again, as every REPL does: `let`, `const` and classes of the top level
 * become variables of the global scope. Lines and, but for those of classes, columns stay.
 */
function redeclarable(cell: PreparedCell, tryParse: (code: string) => Program | undefined): PreparedCell {
  if (!/\b(?:let|const|class)\b/.test(cell.code)) return cell;
  let { code } = cell;
  // From the end, so that the places before stay.
  for (const node of tryParse(code)?.body.toReversed() ?? []) {
    const [before, own, after] = [code.slice(0, node.start), code.slice(node.start, node.end), code.slice(node.end)];
    if (node.type === "VariableDeclaration" && (node.kind === "let" || node.kind === "const")) {
      code = `${before}${"var".padEnd(node.kind.length)}${own.slice(node.kind.length)}${after}`;
    } else if (node.type === "ClassDeclaration") {
      code = `${before}var ${node.id.name} = ${own};${after}`;
    }
  }
  return { ...cell, code };
}
