/** The server's name in the registry of MCP; `mcpName` in the package and a label of the image say the same. */
export const registryName = "io.github.sandkit/sandkit";

const description = "Run code nobody has reviewed yet, in a sandbox: Python, JavaScript, TypeScript, shell, files.";
const repository = "https://github.com/sandkit/sandkit";

/**
 * The manifest of the bundle (MCPB 0.3).
 * @param {string} version
 * @param {readonly { readonly name: string, readonly description?: string }[]} tools As the server lists them.
 */
export function bundleManifest(version, tools) {
  return {
    manifest_version: "0.3",
    name: "sandkit",
    display_name: "Sandkit",
    version,
    description,
    long_description:
      "Gives the model a sandbox that runs on this computer: WebAssembly, without a network and without your files. " +
      "State is kept between calls, figures come as images, files as links. With a container engine, containers.",
    author: { name: "Sandkit", url: repository },
    repository: { type: "git", url: repository },
    license: "Apache-2.0",
    keywords: ["sandbox", "python", "javascript", "code execution"],
    server: {
      type: "node",
      entry_point: "server/index.js",
      mcp_config: {
        command: "node",
        args: [`${filledIn("__dirname")}/server/index.js`],
        env: { SANDKIT_PROVIDER: filledIn("user_config.provider"), SANDKIT_CONFIG: filledIn("user_config.config") },
      },
    },
    tools: tools.map(({ name, description: text = "" }) => ({ name, description: text.split("\n")[0] })),
    compatibility: { platforms: ["darwin", "linux", "win32"], runtimes: { node: ">=20.18.1" } },
    user_config: {
      provider: {
        type: "string",
        title: "Where sandboxes run",
        description: "wasm needs nothing else; docker needs a container engine on this computer",
        default: "wasm",
        required: false,
      },
      config: {
        type: "file",
        title: "Config file",
        description: "Limits, packages, network and the options of the provider; see the documentation",
        default: "",
        required: false,
      },
    },
  };
}

/**
 * What the registry of MCP is told (2025-12-11).
 * @param {string} version
 * @param {{ readonly name: string, readonly sha256: string }} bundle
 */
export function registryEntry(version, bundle) {
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: registryName,
    title: "Sandkit",
    description,
    repository: { url: repository, source: "github" },
    version,
    packages: [
      {
        registryType: "npm",
        identifier: "sandkit",
        version,
        runtimeHint: "npx",
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "mcp" }],
        environmentVariables: [
          {
            name: "SANDKIT_PROVIDER",
            description: "Where sandboxes run: wasm, or the name of an installed provider",
            default: "wasm",
            isRequired: false,
          },
          { name: "SANDKIT_CONFIG", description: "Config file", format: "filepath", isRequired: false },
        ],
      },
      {
        registryType: "mcpb",
        identifier: `${repository}/releases/download/v${version}/${bundle.name}`,
        version,
        fileSha256: bundle.sha256,
        transport: { type: "stdio" },
      },
    ],
  };
}

/**
 * What the client puts in its place.
 * @param {string} name
 */
function filledIn(name) {
  return `\${${name}}`;
}
