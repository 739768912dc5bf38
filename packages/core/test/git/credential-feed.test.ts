import { describe, expect, it } from "vitest";
import { CredentialFeed } from "../../src/git/credential-feed.js";

const credentials = { username: "somebody", password: "s3cret'\" $(id)" };

/** The mark that the command's helper writes, read out of the command. */
function markOf(command: readonly string[]): string {
  return /sandkit-credentials-[0-9a-f-]+/.exec(command.join(" "))?.[0] ?? "";
}

describe("credentials", () => {
  it("are not in the command, nor in its environment", () => {
    const feed = new CredentialFeed(credentials, "https://example.com");
    const shown = JSON.stringify([feed.command(["fetch"]), feed.env]);
    for (const secret of Object.values(credentials)) expect(shown).not.toContain(secret);
    expect(shown).toContain("credential.https://example.com.helper=");
  });

  it("come each time that they are asked for, and not before", async () => {
    const feed = new CredentialFeed(credentials, "https://example.com");
    const mark = markOf(feed.command(["fetch"]));
    const reader = feed.stdin.getReader();
    let given = 0;
    const reading = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        expect(new TextDecoder().decode(value)).toBe("username=somebody\npassword=s3cret'\" $(id)\n\n");
        given++;
      }
    })();
    const turns = () => new Promise((resolve) => setImmediate(resolve));
    feed.watch(`remote: sandkit-credentials-\n${mark.slice(0, 30)}\n${mark}`);
    await turns();
    expect(given).toBe(0);
    for (const piece of ["\n", mark.slice(0, 9), mark.slice(9), "\n"]) feed.watch(piece);
    await turns();
    expect(given).toBe(2);
    // However much comes without an end of a line.
    for (let round = 0; round < 100; round++) feed.watch("x".repeat(100_000));
    feed.watch(`${mark}\n`);
    await turns();
    expect(given).toBe(3);
    await reader.cancel();
    feed.watch(`${mark}\n`);
    await reading;
  });

  it("leave no trace in what the command said", () => {
    const feed = new CredentialFeed(credentials, "https://example.com");
    const mark = markOf(feed.command(["fetch"]));
    expect(feed.clean(`fatal: one\n${mark}\nfatal: two\n`)).toBe("fatal: one\nfatal: two\n");
  });
});
