// Reads one file from a jar, so that neither unzip nor the JDK's jar tool is needed.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

const END_RECORD = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const END_RECORD_BYTES = 22;
const COMMENT_MAX_BYTES = 65_535;
const LOCAL_HEADER_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

export function readZipEntry(file: string, name: string): Buffer {
  const input = openSync(file, 'r');
  const read = (from: number, length: number): Buffer => {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(input, buffer, 0, length, from));
  };
  try {
    const size = fstatSync(input).size;
    const tail = read(
      Math.max(0, size - END_RECORD_BYTES - COMMENT_MAX_BYTES),
      Math.min(size, END_RECORD_BYTES + COMMENT_MAX_BYTES),
    );
    const end = lastIndexOf(tail, END_RECORD);
    const directory = read(tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
    const entry = findEntry(directory, name);
    if (entry === undefined) throw new Error(`${file} has no entry ${name}`);
    // The local header has its own name and extra fields, whose lengths may differ.
    const header = read(entry.offset, LOCAL_HEADER_BYTES);
    const data = read(
      entry.offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28),
      entry.packed,
    );
    if (entry.method === STORED) return data;
    if (entry.method === DEFLATED) return inflateRawSync(data);
    throw new Error(`${name} in ${file} has an unknown compression method (${entry.method})`);
  } finally {
    closeSync(input);
  }
}

function lastIndexOf(buffer: Buffer, signature: number): number {
  for (let at = buffer.length - END_RECORD_BYTES; at >= 0; at -= 1) {
    if (buffer.readUInt32LE(at) === signature) return at;
  }
  throw new Error('not a zip file');
}

function findEntry(directory: Buffer, name: string) {
  let at = 0;
  while (at + 46 <= directory.length && directory.readUInt32LE(at) === DIRECTORY_ENTRY) {
    const nameLength = directory.readUInt16LE(at + 28);
    if (directory.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      return {
        method: directory.readUInt16LE(at + 10),
        packed: directory.readUInt32LE(at + 20),
        offset: directory.readUInt32LE(at + 42),
      };
    }
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return undefined;
}
