// Finds pages by words, beginnings of words, misspelt words and synonyms. A question is searched by
// its significant words. Pure: the index and the field are in search.ts.
import MiniSearch from 'minisearch';
import type { Entry } from '../../src/docs/search-index';

export type { Entry };
export type Found = Pick<Entry, 'id' | 'title' | 'page'>;

/** After fewer results, entries that have only some of the words follow. */
const ENOUGH = 3;
/** Words of a question that an answer need not have. */
const STOP_WORDS = new Set(
  'a an the i my me we our you your it its is are was were be been am do does did can could may might must should would will has have had how what why when where which who whom to of for in on at by from with and or if not no did does there this that one get got'.split(
    ' ',
  ),
);
/** Synonyms; the first of a row is the word of the pages. */
const SYNONYMS: ReadonlyArray<readonly string[]> = [
  ['price', 'cost', 'costs', 'charge', 'charged', 'billing', 'rate card', 'fee', 'pricing'],
  ['twice', 'double', 'duplicate', 'duplicates', 'repeat', 'idempotency'],
  ['timed out', 'timeout', 'timeouts', 'time-out'],
  ['down', 'offline', 'outage', 'unreachable', 'unavailable'],
  ['receiver', 'webhook', 'callback', 'endpoint', 'hook'],
  ['customer', 'recipient', 'user', 'contact'],
  ['phone', 'number', 'msisdn'],
  ['sign-up', 'signup', 'onboarding', 'onboard', 'register', 'connect'],
  ['limit', 'throttle', 'throttled', 'quota', '429'],
  ['key', 'token', 'credential', 'secret', 'api key', 'authentication'],
  ['media', 'image', 'picture', 'photo', 'file', 'video', 'document', 'attachment'],
  ['delete', 'remove', 'disconnect', 'deregister'],
  ['failed', 'error', 'failure', 'fail', 'fails'],
  ['broadcast', 'campaign', 'bulk', 'newsletter'],
  ['quote', 'reply', 'context'],
  ['arrive', 'delivered', 'delivery', 'received', 'receive'],
  ['locked', 'blocked', 'banned', 'stopped', 'restricted'],
  ['log', 'history', 'audit'],
];

const related = new Map<string, string[]>();
for (const row of SYNONYMS) {
  for (const word of row) {
    const others = row.filter((other) => other !== word).flatMap((other) => words(other));
    related.set(word, [...(related.get(word) ?? []), ...others]);
  }
}

/** The parts of a name are words too: `message.received`, `scheduled_at`. */
function words(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s\p{P}]+/u)
    .filter((word) => word !== '');
}

const EXACT = 1;
/** A synonym counts less than the word itself. */
const RELATED = 0.3;

/** Returns a search over the entries: the best first. */
export function createFinder(entries: readonly Entry[]): (query: string) => Found[] {
  const index = new MiniSearch<Entry>({
    fields: ['title', 'names', 'text', 'page'],
    storeFields: ['title', 'page'],
    tokenize: words,
  });
  index.addAll(entries);
  const options = {
    boost: { title: 4, names: 8 },
    prefix: (term: string) => term.length > 1,
    fuzzy,
  };

  /** Entries that have each word, or a synonym of it. */
  const search = (terms: readonly string[], combineWith: 'AND' | 'OR') =>
    index.search({
      combineWith,
      queries: terms.map((term) => ({
        combineWith: 'OR' as const,
        queries: [
          { queries: [term], ...options, boostTerm: () => EXACT },
          ...(related.get(term) ?? []).map((other) => ({
            queries: [other],
            boost: options.boost,
            boostTerm: () => RELATED,
          })),
        ],
      })),
    });

  return (query) => {
    const all = words(query);
    const telling = all.filter((word) => !STOP_WORDS.has(word));
    const terms = telling.length > 0 ? telling : all;
    if (terms.length === 0) return [];
    const whole = search(terms, 'AND');
    const some = whole.length < ENOUGH ? search(terms, 'OR') : [];
    const known = new Set(whole.map(({ id }) => id as string));
    return [...whole, ...some.filter(({ id }) => !known.has(id as string))].map(
      ({ id, title, page }) => ({ id: String(id), title: String(title), page: String(page) }),
    );
  };
}

/** One wrong letter in four; a short word has to be right. */
const fuzzy = (term: string): number | false => (term.length < 4 ? false : 0.25);
