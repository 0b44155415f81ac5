// Generates ids. They are names, not secrets: within one millisecond the next id is predictable.
import { createHash, randomFillSync } from 'node:crypto';

const PREFIX = /^[a-z][a-z0-9]*$/;

// The layout and the alphabet are those of ULID (48 bits of milliseconds, 80 random bits,
// Crockford's base32), in lower case: text order is creation order, in a database index too.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
const BITS_PER_CHARACTER = 5;
const TIME_MAX = 2 ** 48 - 1;

// Randomness is fetched for many ids at once: a call into the system for each would cost more than
// everything else here.
const POOL_BYTES = 4_096;
const pool = Buffer.alloc(POOL_BYTES);
let poolOffset = POOL_BYTES;

let lastTime = -1;
let lastTimeText = '';
const tail = new Uint8Array(RANDOM_CHARACTERS);

/**
 * A new unique id, `<prefix>_<26 characters>`. Ids sort by time, and in the order of the calls
 * within one millisecond of one process.
 */
export function newId(prefix: string, nowMs: number = Date.now()): string {
  checkPrefix(prefix);
  if (!Number.isInteger(nowMs) || nowMs < 0 || nowMs > TIME_MAX) {
    throw new RangeError('an id needs a time in whole milliseconds since 1970');
  }
  if (nowMs === lastTime && increment(tail)) return render(prefix);
  if (nowMs !== lastTime) {
    lastTime = nowMs;
    lastTimeText = timeText(nowMs);
  }
  fillAtRandom(tail);
  return render(prefix);
}

/**
 * An id that follows from content: equal parts give equal ids in every process and at any time.
 * Each part goes in with its length before it, so that moving text from one part to the next
 * changes the id.
 */
export function contentId(prefix: string, ...parts: readonly string[]): string {
  checkPrefix(prefix);
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return `${prefix}_${hash.digest('base64url')}`;
}

function checkPrefix(prefix: string): void {
  if (!PREFIX.test(prefix)) throw new TypeError(`"${prefix}" is not a valid id prefix`);
}

function timeText(nowMs: number): string {
  let text = '';
  for (let rest = nowMs, i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

function fillAtRandom(values: Uint8Array): void {
  if (poolOffset + values.length > POOL_BYTES) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  for (let i = 0; i < values.length; i++) {
    values[i] = (pool[poolOffset + i] ?? 0) >> (8 - BITS_PER_CHARACTER);
  }
  poolOffset += values.length;
}

// False when all 80 bits were ones, which in practice does not happen.
function increment(values: Uint8Array): boolean {
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i] ?? 0;
    if (value < ALPHABET.length - 1) {
      values[i] = value + 1;
      return true;
    }
    values[i] = 0;
  }
  return false;
}

function render(prefix: string): string {
  let text = `${prefix}_${lastTimeText}`;
  for (const value of tail) text += ALPHABET.charAt(value);
  return text;
}
