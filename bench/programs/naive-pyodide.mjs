// Python in Node as Pyodide's own page shows it: in this process, with nothing between it and the guest.
import { loadPyodide } from "pyodide";
import { measureCells } from "./measure-cells.mjs";

const pyodide = await loadPyodide();
await measureCells(async (code) => await pyodide.runPythonAsync(code));
