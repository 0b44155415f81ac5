// Reads one file from a jar, so that neither unzip nor the JDK's jar tool is needed.
import { readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';

/** Only the entry is decompressed; the jar is read whole. */
export function readZipEntry(file: string, name: string): Uint8Array {
  const entry = unzipSync(readFileSync(file), { filter: (one) => one.name === name })[name];
  if (entry === undefined) throw new Error(`${file} has no entry ${name}`);
  return entry;
}
