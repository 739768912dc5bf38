"""Makes the packages of an index for tests: python3 make_packages.py FOLDER.

wheels/ and sdists/ for pip, node/ for npm: every one small, some of them with bad intentions."""

import base64
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import zipfile

root = pathlib.Path(sys.argv[1])


def wheel(name, version, files, needs=(), scripts=()):
    info = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {need}\n" for need in needs)
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if scripts:
        files[f"{info}/entry_points.txt"] = "[console_scripts]\n" + "\n".join(scripts) + "\n"
    record = "".join(f"{path},sha256={digest(text)},{len(text)}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    place = root / "pip" / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def digest(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def packed(place, top, files):
    with tarfile.open(place, "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size, member.mode = len(text.encode()), 0o755
            archive.addfile(member, io.BytesIO(text.encode()))


def sdist(name, version, setup):
    facts = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    packed(root / "pip" / f"{name}-{version}.tar.gz", f"{name}-{version}", {"setup.py": setup, "PKG-INFO": facts})


def node(name, version, files, **facts):
    package = json.dumps({"name": name, "version": version, **facts})
    packed(root / "npm" / f"{name}-{version}.tgz", "package", {"package.json": package, **files})


for folder in ("pip", "npm"):
    (root / folder).mkdir(parents=True)
here = pathlib.Path(__file__).parent
wheel("words", "1.0", {"words.py": "WORDS = 'old words'\n"})
wheel("words", "2.0", {"words.py": "WORDS = 'from the index'\n"})
wheel("greet", "1.5", {"greet.py": "import words\ndef main(): print('greet:', words.WORDS)\n"}, ["words>=2"], ["greet = greet:main"])
wheel("hanging", "1.0", {"hanging.py": "# " + "x" * 200_000})
sdist("large", "1.0", "import os\nwith open('/opt/sandkit/python/large', 'wb') as file:\n    for _ in range(160): file.write(bytes(1 << 20))\n")
sdist("intruder", "1.0", (here / "intruder_setup.py").read_text())
sdist("broken", "1.0", "raise RuntimeError('needs a compiler')\n")
node("leaf", "1.0.0", {"index.js": "module.exports = 'old leaf';"})
node("leaf", "2.0.0", {"index.js": "module.exports = 'leaf';"})
node(
    "tree",
    "1.0.0",
    {"index.mjs": "import leaf from 'leaf';\nexport default 'tree of ' + leaf;\n", "cli.js": "#!/usr/bin/env node\nconsole.log('grows');\n"},
    exports="./index.mjs",
    bin={"tree-grows": "cli.js"},
    dependencies={"leaf": "^1.0.0"},
    scripts={"postinstall": "id -u > told.txt; touch /usr/bin/own /etc/own /node_modules 2>/dev/null; true"},
)
node("secretive", "1.0.0", {}, scripts={"postinstall": "mkdir closed && touch closed/file && chmod 000 closed"})
node("thorn", "1.0.0", {}, scripts={"postinstall": "echo needs a compiler; exit 3"})
