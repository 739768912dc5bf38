import type { SandboxInfo } from "@sandkit/core";
import { table } from "./table.js";

/** Sandboxes as lines of text under a head, oldest first; those of which only the id is known have dashes. */
export function sandboxTable(sandboxes: readonly (Pick<SandboxInfo, "ref"> & Partial<SandboxInfo>)[]): string {
  const head = ["ID", "NAME", "TEMPLATE", "STATE", "AGE", "ENDS IN", "LABELS"];
  const rows = sandboxes.map(({ ref, name, template, state, createdAt, expiresAt, labels = {} }) => [
    ref.id,
    name ?? "-",
    template ?? "-",
    state ?? "-",
    createdAt ? span(Date.now() - createdAt.getTime()) : "-",
    expiresAt ? span(expiresAt.getTime() - Date.now()) : "-",
    Object.entries(labels)
      .map(([key, label]) => `${key}=${label}`)
      .join(" ") || "-",
  ]);
  return table(head, rows);
}

function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}
