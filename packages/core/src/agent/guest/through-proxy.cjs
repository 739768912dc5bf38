/**
 * Sends what Node asks for by fetch, http and https through the proxy that HTTP_PROXY names. Preloaded into Node that
 * does not look there by itself: before 22.21, and 23.
 */
"use strict";
const net = require("node:net");

const [major, minor] = process.versions.node.split(".").map(Number);
const looksItself = major >= 24 || (major === 22 && minor >= 21);
const globalDispatcher = Symbol.for("undici.globalDispatcher.1");
const maxHeadBytes = 64 * 1024;
const proxy = new URL(process.env.HTTP_PROXY || "http://127.0.0.1:3128");
const unproxied = (process.env.NO_PROXY || "").split(",").map((name) => name.trim().toLowerCase());

function goesDirect(host) {
  const name = String(host)
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  return unproxied.some((each) => each !== "" && (name === each || name.endsWith(`.${each.replace(/^\./, "")}`)));
}

/** A connection with the host by a tunnel, told to `done` once it is there. */
function openTunnel(host, port, done) {
  const name = net.isIPv6(host) ? `[${host}]` : host;
  const socket = net.connect(Number(proxy.port) || 80, proxy.hostname);
  let head = Buffer.alloc(0);
  const fail = (error) => {
    socket.destroy();
    done(error);
  };
  const closed = () => fail(new Error(`the proxy ${proxy.host} closed the connection to ${name}:${port}`));
  const listen = () => {
    const piece = socket.read();
    if (piece === null) return;
    head = Buffer.concat([head, piece]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) {
      if (head.length > maxHeadBytes) fail(new Error(`the proxy ${proxy.host} speaks no HTTP`));
      return;
    }
    socket.off("readable", listen).off("error", fail).off("close", closed);
    const [first] = head.toString("utf8", 0, end).split("\r\n");
    if (!/^HTTP\/1\.\d 2/.test(first)) {
      refused(socket, `${name}:${port}: ${first.slice(9)}`, head.subarray(end + 4), done);
      return;
    }
    if (head.length > end + 4) socket.unshift(head.subarray(end + 4));
    done(null, socket);
  };
  socket.on("readable", listen).on("error", fail).on("close", closed);
  socket.write(`CONNECT ${name}:${port} HTTP/1.1\r\nhost: ${name}:${port}\r\n\r\n`);
}

/** Why there is no tunnel: what the proxy says in the body of its answer. */
function refused(socket, what, begun, done) {
  const pieces = [begun];
  const tell = () => {
    const words = Buffer.concat(pieces).toString("utf8", 0, maxHeadBytes).trim();
    done(Object.assign(new Error(`refused by the proxy: ${what}${words && `: ${words}`}`), { code: "EACCES" }));
  };
  socket
    .on("data", (piece) => pieces.push(piece))
    .on("error", () => undefined)
    .once("close", tell);
  socket.end();
}

/** The same with TLS inside. */
function secure(socket, options, done) {
  const tls = require("node:tls").connect({ ...options, socket });
  const fail = (error) => done(error);
  tls.once("error", fail);
  tls.once("secureConnect", () => {
    tls.off("error", fail);
    done(null, tls);
  });
}

/** How undici, which is behind fetch, gets its connections. */
function connectForFetch({ hostname, port, protocol, servername }, done) {
  const isSecure = protocol === "https:";
  openTunnel(hostname.replace(/^\[|\]$/g, ""), port || (isSecure ? 443 : 80), (error, socket) => {
    if (error || !isSecure) done(error, socket);
    else
      secure(
        socket,
        { servername: net.isIP(hostname) ? undefined : servername || hostname, ALPNProtocols: ["http/1.1"] },
        done,
      );
  });
}

function proxyFetch() {
  const original = globalThis.fetch;
  let isReady = false;
  globalThis.fetch = function fetch(...given) {
    if (!isReady) {
      isReady = true;
      // Loads undici, which makes its dispatcher then.
      new Headers();
      const direct = globalThis[globalDispatcher];
      const proxied = new direct.constructor({ connect: connectForFetch });
      // What undici looks at of a dispatcher; its own has more for others.
      const chosen = Object.create(direct);
      chosen.dispatch = (options, handler) =>
        (goesDirect(new URL(options.origin).hostname) ? direct : proxied).dispatch(options, handler);
      globalThis[globalDispatcher] = chosen;
    }
    return original.apply(this, given);
  };
}

/** Agents of node:http and node:https, for what asks by these: an agent that a program brings itself stays as it is. */
function proxyAgents() {
  for (const name of ["http", "https"]) {
    const module = require(`node:${name}`);
    const direct = module.globalAgent.createConnection;
    module.globalAgent.createConnection = function createConnection(options, done) {
      const host = options.host || options.hostname || "localhost";
      if (options.socketPath || goesDirect(host)) return direct.call(this, options, done);
      openTunnel(host, options.port, (error, socket) => {
        if (error || name === "http") done(error, socket);
        else
          secure(socket, { ...options, servername: options.servername || (net.isIP(host) ? undefined : host) }, done);
      });
      return undefined;
    };
  }
}

if (!looksItself && typeof globalThis.fetch === "function") proxyFetch();
if (!looksItself) proxyAgents();
