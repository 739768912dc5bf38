import { createHash } from "node:crypto";
import { makeZip, type ZipFile } from "./make-zip.js";

/** A wheel, and how an index offers it. */
export interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly metadata: string;
}

/** What a wheel is like; without anything: one module of its own name, of plain Python. */
export interface WheelOptions {
  readonly requires?: readonly string[];
  readonly extras?: readonly string[];
  readonly python?: string;
  readonly tag?: string;
  readonly files?: readonly ZipFile[];
}

export function makeWheel(name: string, version: string, options: WheelOptions = {}): Wheel {
  const { requires = [], extras = [], python, tag = "py3-none-any", files } = options;
  const module = name.replaceAll("-", "_");
  const distInfo = `${module}-${version}.dist-info`;
  const metadata = [
    "Metadata-Version: 2.1",
    `Name: ${name}`,
    `Version: ${version}`,
    ...(python === undefined ? [] : [`Requires-Python: ${python}`]),
    ...extras.map((extra) => `Provides-Extra: ${extra}`),
    ...requires.map((requirement) => `Requires-Dist: ${requirement}`),
    "",
    "About it.\nRequires-Dist: not-this-one",
  ].join("\n");
  const content = files ?? [{ name: `${module}.py`, content: `VERSION = "${version}"\n` }];
  const all = [
    ...content,
    { name: `${distInfo}/METADATA`, content: metadata },
    { name: `${distInfo}/WHEEL`, content: `Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: ${tag}\n` },
  ];
  const record = [...all.map((file) => `${file.name},,`), `${distInfo}/RECORD,,`].join("\n");
  const bytes = makeZip([...all, { name: `${distInfo}/RECORD`, content: record }]);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { name, version, filename: `${module}-${version}-${tag}.whl`, bytes, sha256, metadata };
}
