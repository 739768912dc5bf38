import type { SandboxRef } from "../provider.js";

/** The id of something at a backend, as the whole has it: the key of the backend, a dot, and the backend's own id. */
export function outerId(key: string, id: string): string {
  return `${key}.${id}`;
}

/** A ref as the whole has it. */
export function outerRef(name: string, key: string, { id }: SandboxRef): SandboxRef {
  return { provider: name, id: outerId(key, id) };
}

/** The key and the backend's own id; undefined for what has no key. */
export function innerId(id: string): { readonly key: string; readonly id: string } | undefined {
  const dot = id.indexOf(".");
  return dot < 0 ? undefined : { key: id.slice(0, dot), id: id.slice(dot + 1) };
}
