import { createSandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { docker } from "../src/index.js";
import { dockerWithImage } from "./docker-with-image.js";
import { describeOnEngine, testImages, testOnEngine } from "./engine.js";

// The suite's servers run in the sandbox: it has no network.
await testOnEngine({ provider: () => dockerWithImage(testImages.git), only: ["git"], timeouts: { factor: 2 } });

describeOnEngine("an image without git", () => {
  it("declares none, and a call names what is missing", async () => {
    const sandbox = await createSandbox(docker(), { image: testImages.python });
    try {
      expect(sandbox.capabilities.features.git).toBe(false);
      const cloning = sandbox.git.clone("https://example.com/x.git");
      await expect(cloning).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: expect.stringContaining("git in it"),
      });
    } finally {
      await sandbox.destroy();
    }
  });
});
