// Exit code 0: the server answers. While it drains it does not, and nobody should be sent to it.
const { ok } = await fetch("http://127.0.0.1:3333/healthz").catch(() => ({ ok: false }));
process.exit(ok ? 0 : 1);
