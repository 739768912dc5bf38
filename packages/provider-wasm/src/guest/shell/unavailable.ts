const noNetwork = 'this sandbox has no network: create it with network: { allow: ["example.com"] }';
const noSockets =
  "a sandbox has no sockets: HTTP and HTTPS go through curl, wget, and the libraries of Python and JavaScript";
const noPrograms =
  "the shell has its own commands, python3, node and pip, and starts no program of an operating system";
const noProcesses = "the shell runs one command after another, and has no processes";
const fixed = "the sandbox's image is fixed, and has no package manager";

/** Commands that people try, and why they do not exist here. */
export const unavailable: Readonly<Record<string, string>> = {
  ...all(noSockets, "ssh", "scp", "rsync", "nc", "ping", "dig", "nslookup"),
  ...all(fixed, "apt", "apt-get", "apk", "yum", "dnf", "brew", "dpkg"),
  ...all(noPrograms, "git", "docker", "make", "cmake", "gcc", "g++", "cc", "clang", "go", "cargo", "rustc"),
  ...all(noPrograms, "java", "javac", "ruby", "perl", "php", "npm", "npx", "yarn", "pnpm", "deno", "bun", "tsc"),
  ...all(noPrograms, "vi", "vim", "nano", "emacs", "less", "more", "man", "dd", "xz", "sqlite3"),
  ...all("use python3, or jq for JSON", "yq", "xan"),
  tar: "use python3 -m tarfile (-c, -l, -e)",
  ...all("use python3 -m zipfile (-c, -l, -e)", "zip", "unzip"),
  ...all("use pip", "uv", "pipx", "poetry", "conda"),
  ...all(noProcesses, "ps", "top", "htop", "pgrep", "pkill", "killall", "nohup", "setsid", "bg", "fg", "disown"),
  ...all("there is one user, without further rights", "sudo", "su", "chown", "chgrp", "useradd", "passwd"),
};

/** Commands that are there where the sandbox has a network. */
export const unavailableWithoutNetwork: Readonly<Record<string, string>> = all(noNetwork, "curl", "wget");

function all(reason: string, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]));
}
