import { lazily } from "./lazily.js";

/** Modules of Node that are loaded when they are first used: to import this package is not to wait for them. */
export const net = lazily(() => process.getBuiltinModule("node:net"));
export const crypto = lazily(() => process.getBuiltinModule("node:crypto"));
