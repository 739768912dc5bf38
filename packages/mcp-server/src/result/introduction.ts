import type { Used } from "../sandboxes.js";

/** The sentence that tells the id of a sandbox to a caller who cannot know it yet; otherwise nothing. */
export function introduction({ introduce, handle }: Pick<Used<unknown>, "introduce" | "handle">): string {
  return introduce ? ` Sandbox: ${handle} (pass it as sandbox_id to go on in it).` : "";
}
