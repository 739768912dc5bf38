import { strict as assert } from "node:assert";
import { rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** What of packages can be proven without a package: that a wrong one is refused by name and leaves nothing. */
export const packageCases: readonly ConformanceCase[] = [
  {
    id: "packages.malformed",
    title: "a package whose name is none is INVALID, before anything is created",
    needs: ["packages"],
    async run({ sandbox, created }) {
      await rejects(sandbox({ packages: ["== 1.0"] }), "INVALID", "== 1.0");
      assert.equal(created(), 0, "a sandbox was created");
    },
  },
  {
    id: "packages.npm",
    title: "a package of npm is honoured or refused by its name, before anything is created",
    needs: ["packages"],
    async run({ sandbox, created }) {
      await rejects(sandbox({ packages: ["npm:-g"] }), ["INVALID", "UNSUPPORTED"], "npm:-g");
      assert.equal(created(), 0, "a sandbox was created");
    },
  },
  {
    id: "packages.absent",
    title: "a package that does not exist fails the creation by its name, and leaves no sandbox",
    needs: ["packages"],
    async run({ provider, sandbox, unique, capabilities }) {
      const [name, label] = [unique("absent"), unique("label")];
      await rejects(sandbox({ packages: [name], labels: { label } }), ["INVALID", "UNAVAILABLE"], name);
      if (!capabilities.features.list) return;
      for await (const { ref } of provider.list({ labels: { label } })) throw new Error(`sandbox ${ref.id} is left`);
    },
  },
];
