import { canInstall, installMissing } from "./debian-packages.mjs";
import { runCommand } from "./run-command.mjs";

/**
 * Makes sure that there is a `python3`: the tests run the conformance suite on plain processes of this machine, and
 * the supervisor of those is a Python program. Installs it where that needs no question: as root on Debian.
 */
export async function ensurePython() {
  if ((await runCommand(["python3", "--version"])).code === 0) return;
  if (await canInstall()) return installMissing({ python3: "python3" });
  process.stderr.write(
    "error  no python3 on this machine, and the tests run programs on it (provider-local)\n" +
      "fix    install Python 3.9 or newer (Debian: sudo apt-get install python3; macOS: xcode-select --install), then: npm test\n",
  );
  process.exit(1);
}
