// Those programs of the conformance suite that a shell cannot be, for a box with Node and without Python.
//
// Usage: node -e "$(cat probe.cjs)" NAME [ARGUMENT...]. What each does is said in probe.py.
const { createConnection, createServer } = require("node:net");

const timeoutMs = 3_000;

const programs = {
  traits() {
    process.stdout.write("node");
  },

  connect(host, port) {
    const socket = createConnection({ host, port: Number(port), timeout: timeoutMs });
    const end = (/** @type {string} */ word) => {
      process.stdout.write(word);
      socket.destroy();
    };
    socket.once("connect", () => end("connected"));
    socket.once("timeout", () => end("refused: timed out"));
    socket.once("error", (error) => end(`refused: ${error.message}`));
  },

  fetch(url) {
    const refused = (/** @type {Error} */ error) => process.stdout.write(`refused: ${error.message}`);
    fetch(url)
      .then(async (page) => process.stdout.write(`${page.status} ${await page.text()}`))
      .catch(refused);
  },

  serve(port, text) {
    const head = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`;
    const server = createServer((socket) => socket.once("data", () => socket.end(head + text)));
    server.listen(Number(port), "0.0.0.0", () => process.stdout.write("ready"));
  },
};

const [, name, ...args] = process.argv;
programs[name](...args);
