import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { wasm } from "../src/index.js";

/** What of matplotlib the driver touches, with figures that are drawn by hand. */
const standIn = {
  "matplotlib/__init__.py": "import os\nbackend = os.environ['MPLBACKEND']\n",
  "matplotlib/_pylab_helpers.py": `
class _Manager:
    def __init__(self, figure): self.canvas = type("Canvas", (), {"figure": figure})()
class Gcf:
    figs = {}
    @classmethod
    def get_all_fig_managers(cls): return list(cls.figs.values())
    @classmethod
    def destroy_all(cls): cls.figs.clear()
`,
  "matplotlib/figure.py": `
class Figure:
    def __init__(self): self.axes, self.lines, self.texts, self.images = [], [], [], []
    def savefig(self, file, format, bbox_inches): file.write(b"\\x89PNG " + repr(self.axes).encode())
`,
  "matplotlib/pyplot.py": `
from matplotlib._pylab_helpers import Gcf, _Manager
from matplotlib.figure import Figure
def figure():
    figure = Figure()
    Gcf.figs[id(figure)] = _Manager(figure)
    return figure
def plot(*values):
    figure_ = [m.canvas.figure for m in Gcf.figs.values()][-1] if Gcf.figs else figure()
    figure_.axes.append(values)
def close(figure): Gcf.figs.pop(id(figure), None)
def show(): raise RuntimeError("there is no window")
`,
};

let sandbox: Sandbox;
beforeAll(async () => {
  const files = Object.entries(standIn).map(([path, source]) => [
    `/usr/local/lib/python3.14/site-packages/${path}`,
    source,
  ]);
  sandbox = await createSandbox(wasm(), { files: Object.fromEntries(files) });
});
afterAll(() => sandbox.destroy());

const png = (axes: string) => Buffer.from(`\x89PNG ${axes}`, "latin1").toString("base64");

it("figures that a cell leaves open are shown at its end, in their order, and closed", async () => {
  const { error, outputs, stdout } = await sandbox.runCode(
    "import matplotlib.pyplot as plt\nplt.plot(1)\nplt.figure()\nplt.plot(2)\nprint(plt.Gcf.figs and 'open')\n'value'",
  );
  expect([error, stdout.text]).toEqual([undefined, "open\n"]);
  expect(outputs.map((output) => output["image/png"] ?? output["text/plain"])).toEqual([
    png("[(1,)]"),
    png("[(2,)]"),
    "'value'",
  ]);
  expect((await sandbox.runCode("len(plt.Gcf.figs)")).value).toBe(0);
  expect((await sandbox.runCode("import matplotlib\nmatplotlib.backend")).value).toBe("agg");
});

it("a figure that is the value, or is shown by hand, is shown once", async () => {
  const value = await sandbox.runCode("figure = plt.figure()\nplt.plot(3)\nfigure");
  expect(value.outputs.map((output) => output["image/png"])).toEqual([png("[(3,)]")]);
  const shown = await sandbox.runCode("plt.plot(4)\nplt.show()\nplt.plot(5);");
  expect(shown.outputs.map((output) => output["image/png"])).toEqual([png("[(4,)]"), png("[(5,)]")]);
});

it("a figure that is open when the cell fails is shown too", async () => {
  const { error, outputs } = await sandbox.runCode("plt.plot(6)\n1 / 0");
  expect([error?.name, outputs.length]).toEqual(["ZeroDivisionError", 1]);
});
