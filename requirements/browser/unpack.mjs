// Unpacks the browser in @sparticuz/chromium, and the libraries that a small machine may lack: node unpack.mjs
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

const packed = (name) => brotliDecompressSync(readFileSync(`node_modules/@sparticuz/chromium/bin/${name}.br`));

execFileSync("tar", ["-x", "-f", "-"], { input: packed("al2023.tar") });
writeFileSync("chrome", packed("chromium"), { mode: 0o700 });
// The machine's own libraries come first: ours are only for what it doesn't have.
const start = 'here=$(dirname "$0")\nLD_LIBRARY_PATH=${LD_LIBRARY_PATH:-/usr/lib/x86_64-linux-gnu}:$here/lib exec "$here/chrome" "$@"\n';
writeFileSync("chromium", `#!/bin/sh\n${start}`, { mode: 0o700 });
