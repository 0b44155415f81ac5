// The peppers of stored hashes: KEY_PEPPER holds one text, or a ring of keys that can be rotated. A hash made
// with a key of the ring begins with the key's ID; one made with a single text has no ID.
import { createHmac } from 'node:crypto';
import { ApiError } from '../errors';

export type Peppers = ReturnType<typeof createPeppers>;

const KEY = '[\\w-]{1,32}:[A-Za-z0-9+/]{43}=';
/** A pepper without an ID, from the time of a single text: the text itself in base64. */
const FORMER = ':[A-Za-z0-9+/]+={0,2}';
const NO_ID_TWICE = '(?!(.*,)?(?<id>[\\w-]{1,32}):[^,]*,(.*,)?\\k<id>:)';
const RING = `${NO_ID_TWICE}((${KEY}|${FORMER}),)*${KEY}(,(${KEY}|${FORMER}))*`;
/** A single text: any text that does not begin like a ring. */
const IS_SINGLE = /^(?![\w-]{0,32}:[A-Za-z0-9+\/]*={0,2}(,|$))[^]+$/u;

const IS_RING = new RegExp(`^${RING}$`, 'u');
/** Separates the ID from the hash, which is base64url and never contains this character. */
const SEPARATOR = '.';

interface Pepper {
  id: string;
  secret: string | Buffer;
}

/**
 * The fault in a value of the setting, without quoting it. Undefined for a single text, and for a
 * ring: keys `id:base64` of 32 bytes, newest first, comma-separated.
 */
export const pepperFault = (setting: string): string | undefined =>
  IS_RING.test(setting) || IS_SINGLE.test(setting)
    ? undefined
    : 'must be one text, or keys id:base64 of 32 bytes, comma-separated, each ID once';

/** `setting` is one that `pepperFault` accepts. */
export function createPeppers(setting: string) {
  const [newest, ...older] = readPeppers(setting);
  const prefix = prefixOf(newest);
  const hash = ({ id, secret }: Pepper, text: string): string =>
    prefixOf({ id }) + createHmac('sha256', secret).update(text).digest('base64url');
  return {
    /** ID of the newest pepper; empty for a single text. */
    newest_id: newest.id,
    /** The hash to store from now on. */
    hash: (text: string): string => hash(newest, text),
    /** Every hash under which the text may be stored, the newest first. */
    hashes: (text: string): [string, ...string[]] => [
      hash(newest, text),
      ...older.map((pepper) => hash(pepper, text)),
    ],
    /** True for a hash made with the newest pepper. */
    isNewest: (stored: string): boolean =>
      prefix === '' ? !stored.includes(SEPARATOR) : stored.startsWith(prefix),
  };
}

const prefixOf = ({ id }: Pick<Pepper, 'id'>): string => (id === '' ? '' : id + SEPARATOR);

function readPeppers(setting: string): [Pepper, ...Pepper[]] {
  if (!IS_RING.test(setting)) return [{ id: '', secret: setting }];
  return setting.split(',').map((entry) => {
    const [id, encoded] = entry.split(':') as [string, string];
    return { id, secret: Buffer.from(encoded, 'base64') };
  }) as [Pepper, ...Pepper[]];
}

/**
 * Looks up the hashes in turn and returns the first known result. After a look-up that throws a
 * 401, or whose result `isKnown` rejects, the next hash is tried. If none is known, the outcome is
 * that of the newest.
 */
export async function firstKnown<T>(
  [newest, ...older]: readonly [string, ...string[]],
  lookUp: (hash: string) => Promise<T>,
  isKnown: (answer: T) => boolean = () => true,
): Promise<T> {
  const find = async (hash: string): Promise<{ answer: T } | { refusal: ApiError }> => {
    try {
      return { answer: await lookUp(hash) };
    } catch (error) {
      if (error instanceof ApiError && error.http === 401) return { refusal: error };
      throw error;
    }
  };
  const first = await find(newest);
  let found = first;
  for (const hash of older) {
    if ('answer' in found && isKnown(found.answer)) return found.answer;
    found = await find(hash);
  }
  if (!('answer' in found && isKnown(found.answer))) found = first;
  if ('refusal' in found) throw found.refusal;
  return found.answer;
}
