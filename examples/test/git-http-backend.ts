import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A git server on this machine, over `git http-backend`, that wants a login. */
export async function serveGit(root: string, login: string): Promise<{ port: number; close: () => Promise<unknown> }> {
  const wanted = `Basic ${Buffer.from(login).toString("base64")}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization === wanted) return runBackend(root, request, response);
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the git server has no port");
  return { port: address.port, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** By the rules of CGI: the request in the environment, headers before the body. */
function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://here");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "somebody",
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
  });
  request.pipe(backend.stdin);
  let head = Buffer.alloc(0);
  backend.stdout.on("data", (chunk: Buffer) => {
    if (response.headersSent) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    const fields = head.subarray(0, end).toString().split("\r\n");
    const headers = Object.fromEntries(fields.map((field) => field.split(": ", 2)));
    response.writeHead(Number.parseInt(headers.Status ?? "200", 10), headers);
    response.write(head.subarray(end + 4));
  });
  backend.stdout.on("end", () => response.end());
}
