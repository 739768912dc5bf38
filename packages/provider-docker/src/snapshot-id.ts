import { refusal } from "./errors.js";

const shapeOfId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws SandboxError `INVALID` for what is no id of a snapshot: it would be the name of any image */
export function checkSnapshotId(id: string, operation: "create" | "removeSnapshot"): void {
  if (shapeOfId.test(id)) return;
  const message = `snapshot ${JSON.stringify(id)} is no id of a snapshot: pass the "id" that snapshot() gave`;
  throw refusal("INVALID", message, operation);
}
