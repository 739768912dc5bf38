#!/usr/bin/env node
// A file that is there before the first build: npm links programs when it installs.
import "../dist/cli.js";
