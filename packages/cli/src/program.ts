import { fileURLToPath } from "node:url";

/** This program, as whoever starts it again names it. */
export const program = fileURLToPath(new URL("../bin/sandkit.js", import.meta.url));
