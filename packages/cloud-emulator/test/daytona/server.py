"""Answers GET with its path, POST with its body, and an upgrade with one WebSocket message; its port is in `port`."""

import base64
import hashlib
import http.server

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.headers.get("upgrade"):
            self.greet()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"GET {self.path}".encode())

    def do_POST(self):
        self.send_response(201)
        self.end_headers()
        self.wfile.write(self.rfile.read(int(self.headers["content-length"])))

    def greet(self):
        digest = hashlib.sha1((self.headers["sec-websocket-key"] + MAGIC).encode()).digest()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(digest).decode())
        self.end_headers()
        self.wfile.write(b"\x81\x05hello")
        self.connection.recv(100)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("port", "w") as port:
    port.write(str(server.server_port))
server.serve_forever()
