#!/bin/sh
# npm from its own registry: Debian's drags in hundreds of packages.
set -eu
modules=/usr/local/lib/node_modules
mkdir -p "$modules/npm" /usr/local/bin
tar -xzf npm-*.tgz --strip-components=1 -C "$modules/npm"
ln -s "$modules/npm/bin/npm-cli.js" /usr/local/bin/npm
ln -s "$modules/npm/bin/npx-cli.js" /usr/local/bin/npx
chmod +x "$modules/npm/bin/npm-cli.js" "$modules/npm/bin/npx-cli.js"
