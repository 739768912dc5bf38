/** Beside the record in the metadata of every sandbox that Sandkit makes: all of them are found by it. */
export const managed: Readonly<Record<string, string>> = { "sandkit.managed": "true" };
