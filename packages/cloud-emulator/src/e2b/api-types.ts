import type { components } from "e2b";

/** The models of E2B's control API, as its SDK declares them. */
export type Api = components["schemas"];
