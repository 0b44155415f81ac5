// Prints the bytes that a browser loads for the first screen, compressed, and fails above the
// limit.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const LIMIT_BYTES = 250 * 1024;
/** A phone on a slow mobile network. */
const SLOW_BYTES_PER_SEC = (1.6 * 1024 * 1024) / 8;
const SLOW_ROUND_TRIP_S = 0.15;

const site = new URL('dist/site/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', site), 'utf8'));

const files = new Set();
const visit = (name) => {
  const chunk = manifest[name];
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  chunk.css?.forEach((file) => files.add(file));
  chunk.imports?.forEach(visit);
};
visit('index.html');
visit('src/screens/overview.tsx');

let total = 0;
for (const file of files) {
  const bytes = gzipSync(readFileSync(new URL(file, site))).length;
  total += bytes;
  console.log(`${(bytes / 1024).toFixed(1).padStart(7)} KiB  ${file}`);
}
// The page, its scripts, the screen's script: one after the other.
const seconds = total / SLOW_BYTES_PER_SEC + 3 * SLOW_ROUND_TRIP_S;
console.log(`${(total / 1024).toFixed(1).padStart(7)} KiB  compressed, of ${LIMIT_BYTES / 1024}`);
console.log(`${seconds.toFixed(1).padStart(7)} s    on a connection of 1.6 Mbit/s, 150 ms`);
if (total > LIMIT_BYTES) {
  console.error('the first screen loads more than the limit');
  process.exit(1);
}
