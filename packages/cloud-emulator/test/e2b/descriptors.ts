import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { type DescMessage, type DescMethod, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { fileDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";

/** The methods of envd's services, out of the descriptors that the SDK's bundle carries. */
export async function sdkMethods(): Promise<Map<string, DescMethod>> {
  const bundle = await readFile(createRequire(import.meta.url).resolve("e2b"), "utf8");
  const methods = new Map<string, DescMethod>();
  for (const [, descriptor = ""] of bundle.matchAll(/fileDesc\)?\(\s*["']([A-Za-z0-9+/=]+)["']/g)) {
    for (const service of fileDesc(descriptor, [file_google_protobuf_timestamp]).services) {
      for (const method of service.methods) methods.set(`/${service.typeName}/${method.name}`, method);
    }
  }
  return methods;
}

/** Stands before an emulator, hands everything on, and checks each message that envd answers with. */
export interface Witness extends AsyncDisposable {
  readonly url: string;
  /** Paths of the methods whose answers were checked, and how many messages. */
  readonly checked: ReadonlyMap<string, number>;
  /** What was wrong, in words. */
  readonly violations: readonly string[];
}

/** Starts one. */
export async function startWitness(emulator: string): Promise<Witness> {
  const methods = await sdkMethods();
  const checked = new Map<string, number>();
  const violations: string[] = [];
  const check = (path: string, message: DescMessage, json: JsonValue) => {
    checked.set(path, (checked.get(path) ?? 0) + 1);
    try {
      fromJson(message, json, { ignoreUnknownFields: false });
    } catch (error) {
      violations.push(`${path}: ${error}: ${JSON.stringify(json)}`);
    }
  };
  const server = createServer((request, response) => {
    const onward = httpRequest(emulator + request.url, { method: request.method, headers: request.headers });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      const method = methods.get(request.url ?? "");
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("close", () => {
        if (!method) return;
        for (const json of messagesOf(Buffer.concat(chunks), answer.headers["content-type"])) {
          if (answer.statusCode === 200 && !isEnd(json)) check(request.url ?? "", method.output, json);
          else checkFailure(request.url ?? "", json, violations);
        }
      });
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    checked,
    violations,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The last message of a stream, which is Connect's and not the service's. */
const ends = new WeakSet<object>();

function isEnd(json: JsonValue): boolean {
  return typeof json === "object" && json !== null && ends.has(json);
}

function* messagesOf(bytes: Buffer, type = ""): Generator<JsonValue> {
  if (!type.startsWith("application/connect+json")) {
    yield JSON.parse(bytes.toString());
    return;
  }
  let rest = bytes;
  while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
    const end = 5 + rest.readUInt32BE(1);
    const json = JSON.parse(rest.subarray(5, end).toString());
    if (rest.readUInt8(0) & 0x02) ends.add(json);
    yield json;
    rest = rest.subarray(end);
  }
}

const codes =
  /^(canceled|unknown|invalid_argument|deadline_exceeded|not_found|already_exists|permission_denied|resource_exhausted|failed_precondition|aborted|out_of_range|unimplemented|internal|unavailable|data_loss|unauthenticated)$/;

/** `{code,message}` alone, or as `error` at the end of a stream, which is empty otherwise. */
function checkFailure(path: string, json: JsonValue, violations: string[]): void {
  const failure = isEnd(json) ? (json as { error?: unknown }).error : json;
  if (failure === undefined && JSON.stringify(json) === "{}") return;
  const { code, message } = (failure ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === "string" && codes.test(code) && typeof message === "string") return;
  violations.push(`${path}: not an error of Connect: ${JSON.stringify(json)}`);
}
