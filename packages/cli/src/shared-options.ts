import type { Options } from "./command.js";

/** Options of every command. */
export const commonOptions = {
  "no-color": { description: "no colour (NO_COLOR and TERM=dumb do the same)" },
  help: { short: "h", description: "this page" },
} satisfies Options;

/** Of commands that ask a provider. */
export const providerOptions = {
  provider: {
    value: "NAME",
    description: "wasm, docker, e2b, daytona, or the name of a package that exports createProvider",
  },
  config: { value: "FILE", description: "config file, the one that sandkit mcp reads" },
  ...commonOptions,
} satisfies Options;

/** Of commands whose whole answer can be data. */
export const jsonOption = {
  json: { description: "one JSON document on stdout; errors as JSON on stderr" },
} satisfies Options;

/** Of commands that can take a while. */
export const quietOption = { quiet: { short: "q", description: "no progress on stderr" } } satisfies Options;

/** Of commands that choose among living sandboxes. */
export const labelOption = {
  label: { value: "KEY=VALUE", description: "only those that carry this label; repeatable", repeatable: true },
} satisfies Options;

/** Of commands that make a sandbox. */
export const creationOptions = {
  image: { value: "IMAGE", description: "the provider's own image, in place of a template" },
  label: { value: "KEY=VALUE", description: "label of the sandbox, for sandkit ls; repeatable", repeatable: true },
  with: {
    value: "PACKAGE",
    description: "install this package first, as pip names it (requests==2.*); repeatable",
    repeatable: true,
  },
  allow: {
    value: "HOST",
    description: "let programs ask this host by HTTP(S): api.example.com, *.example.com, host:port; repeatable",
    repeatable: true,
  },
} satisfies Options;

/** How programs in a living sandbox are started. */
export const placeOptions = {
  env: { short: "e", value: "NAME=VALUE", description: "environment of the program; repeatable", repeatable: true },
  cwd: { value: "PATH", description: "directory to start in; default: the sandbox's own" },
  user: { value: "USER", description: "who runs it, where the provider can choose" },
} satisfies Options;
