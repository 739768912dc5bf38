// node host.mjs ADDRESS: a host in a process of its own. Prints its port; `/N` is an answer of N bytes.
import { createServer } from "node:http";
import { Readable } from "node:stream";

const piece = Buffer.alloc(65_536, "x");

/** @param {number} bytes */
function* pieces(bytes) {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

const server = createServer((request, response) => {
  const bytes = Number(request.url?.slice(1));
  response.setHeader("Content-Length", bytes);
  Readable.from(pieces(bytes)).pipe(response);
});
server.listen(0, process.argv[2], () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" && address?.port}\n`);
});
// It ends with whoever started it.
process.stdin.resume().once("end", () => process.exit());
