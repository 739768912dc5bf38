"""A git server for the conformance suite, and what looks for secrets where they must not be.

    git_server.py serve ROOT     serves the repositories below ROOT by HTTP; stdin: NAME:PASSWORD, in one line
    git_server.py find PATH...   prints every file at and below the paths that holds what comes on stdin

There are two servers of their own ports, both in this process; the first line on stdout gives the ports. Below
/open/ nobody is asked who he is, below /private/ everybody; /away/ sends on to /private/ of the other server; /hang/
never answers. Each request is a line on stdout: PORT METHOD PATH, `authorized` or `-`, and what of the secret was to be
seen at that moment in the command lines and environments of all processes but this.
"""

import base64
import gzip
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVICES = ("git-upload-pack", "git-receive-pack")


def say(text):
    os.write(1, (text + "\n").encode())


def seen_in_processes(secret):
    """Command lines and environments that hold the secret, and whether the git that asked was among those looked at."""
    found, git = [], False
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("cmdline", "environ"):
            try:
                with open("/proc/%s/%s" % (pid, name), "rb") as file:
                    content = file.read()
            except OSError:
                # It has ended, or is none of ours.
                continue
            git = git or (name == "environ" and b"GIT_TERMINAL_PROMPT=0" in content)
            if secret in content:
                found.append(name)
    return ",".join(found) or ("nothing" if git else "no git to look at")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    login = root = b""
    ports = ()

    def handle_request(self):
        area = self.path.split("/")[1]
        given = self.headers.get("Authorization", "")
        authorized = given == "Basic " + base64.b64encode(self.login).decode()
        seen = seen_in_processes(self.login.split(b":", 1)[1]) if given else "-"
        port = self.server.server_address[1]
        say("%d %s %s %s %s" % (port, self.command, self.path, "authorized" if given else "-", seen))
        body = self.read_body()
        if area == "hang":
            time.sleep(600)
        elif area == "away":
            other = [one for one in self.ports if one != port][0]
            self.answer(302, {"Location": "http://127.0.0.1:%d/private%s" % (other, self.path[len("/away") :])})
        elif area == "private" and not authorized:
            self.answer(401, {"WWW-Authenticate": 'Basic realm="test"'})
        else:
            self.serve_git(body)

    do_GET = do_POST = handle_request

    def read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            pieces = []
            while True:
                size = int(self.rfile.readline(), 16)
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
                if size == 0:
                    break
            body = b"".join(pieces)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def serve_git(self, body):
        path, _, query = self.path.partition("?")
        repository, _, service = path.partition(".git/")
        folder = os.path.join(self.root, os.path.basename(repository) + ".git")
        advertise = service == "info/refs"
        if advertise:
            service = query.replace("service=", "")
        if service not in SERVICES or not os.path.isdir(folder):
            self.answer(404, {})
            return
        command = ["git", service[4:], "--stateless-rpc", *(["--advertise-refs"] if advertise else []), folder]
        env = {**os.environ, "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        answer = subprocess.run(command, input=body, stdout=subprocess.PIPE, env=env).stdout
        if advertise:
            line = b"# service=%s\n" % service.encode()
            if not answer.startswith(b"000eversion 2"):
                answer = b"%04x%s0000" % (len(line) + 4, line) + answer
        kind = "application/x-%s-%s" % (service, "advertisement" if advertise else "result")
        self.answer(200, {"Content-Type": kind, "Cache-Control": "no-cache"}, answer)

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """What there is to say is on stdout."""


def serve(root):
    Handler.root = root
    Handler.login = sys.stdin.buffer.readline().rstrip(b"\n")
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
    Handler.ports = tuple(server.server_address[1] for server in servers)
    say("%d %d" % Handler.ports)
    threading.Thread(target=servers[1].serve_forever, daemon=True).start()
    servers[0].serve_forever()


def find(paths):
    secret = sys.stdin.buffer.read()
    for path in paths:
        for folder, _, names in os.walk(path):
            for name in names:
                file = os.path.join(folder, name)
                if os.path.isfile(file) and secret in open(file, "rb").read():
                    say(file)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        find(sys.argv[2:])
