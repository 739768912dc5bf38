import { runCommand } from "./run-command.mjs";
import { wait } from "./set-up.mjs";

/**
 * Makes sure that there is a `python3`: the tests run the conformance suite on plain processes of this machine, and
 * the supervisor of those is a Python program. Installs it where that needs no question: as root on Debian.
 */
export async function ensurePython() {
  if ((await runCommand(["python3", "--version"])).code === 0) return;
  const isRoot = process.getuid?.() === 0;
  if (isRoot && (await runCommand(["apt-get", "--version"])).code === 0) {
    await wait("updating the package lists (apt-get update)", ["apt-get", "update", "-qq"]);
    await wait("installing python3 (apt-get)", [
      "apt-get",
      "install",
      "-y",
      "-qq",
      "--no-install-recommends",
      "python3",
    ]);
    return;
  }
  process.stderr.write(
    "error  no python3 on this machine, and the tests run programs on it (provider-local)\n" +
      "fix    install Python 3.9 or newer (Debian: sudo apt-get install python3; macOS: xcode-select --install), then: npm test\n",
  );
  process.exit(1);
}
