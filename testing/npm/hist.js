#!/usr/bin/env node
// Starts hist. The program lies in a package of its own for each platform, of which npm installs the one that fits.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const name = `@hist-cli/hist-${platform}`;
let program;
try {
  program = require.resolve(`${name}/bin/${process.platform === "win32" ? "hist.exe" : "hist"}`);
} catch {
  const known = Object.keys(require("../package.json").optionalDependencies).includes(name);
  console.error(`hist: ${known ? `${name} is not installed; install again, without --omit=optional` : `there is no program for ${platform}; build it with Go from https://github.com/hist-cli/hist`}`);
  process.exit(3);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C and a hang-up to the program, too; it decides when to end.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", error => {
  console.error(`hist: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
