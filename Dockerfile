# The MCP server over HTTP. Its sandboxes are WebAssembly inside the container, so that it needs no container engine and
# is given none; nobody is root in it, and it writes to /tmp alone.
#
#   npm run bundle
#   docker build -t sandkit/mcp .
#   docker run --rm --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     -e SANDKIT_TOKEN=... -p 127.0.0.1:3333:3333 sandkit/mcp

# Any image with Node 20.18.1 or newer.
ARG BASE=node:24-slim
FROM ${BASE}
LABEL io.modelcontextprotocol.server.name="io.github.sandkit/sandkit"
COPY build/bundle/server /opt/sandkit
ENV NODE_ENV=production HOME=/tmp
USER 65532:65532
WORKDIR /tmp
EXPOSE 3333
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["node", "/opt/sandkit/healthcheck.js"]
ENTRYPOINT ["node", "/opt/sandkit/index.js"]
CMD ["http", "--host", "0.0.0.0"]
