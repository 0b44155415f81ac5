// Which number a request means: the target's, or another number of the same account that the request names
// in its own field `phone_number_id` (contract, Client: multi-number rule). The upstream is asked whether
// the account has it, so that nobody acts on a stranger's number with a token that happens to reach it.
import { invalidField } from '@bmg/common/errors';
import { createVersionedCache } from '@bmg/common/directory';
import type { Call } from '@bmg/common/rpc';
import { itemsOf, type Question, type Runner, type Targeted } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';

/** Two of the phone's steps follow each other within seconds: the second one asks nobody. */
const ENTRIES_MAX = 10_000;

const NUMBERS: Question<Targeted> = {
  upstream: 'GET /{waba_id}/phone_numbers',
  query: { fields: 'id' },
  pages: { page_size: 100, items_max: 2_000 },
};

export interface NumberOf {
  (request: Targeted & { phone_number_id?: unknown }, target: Target, call: Call): Promise<string>;
}

export function createNumbers(ask: Runner['ask']): NumberOf {
  const cache = createVersionedCache<{ phone_number_id: string }>(ENTRIES_MAX);
  return async ({ phone_number_id: named }, target, call) => {
    if (typeof named !== 'string' || named === target.phone_number_id) {
      return target.phone_number_id;
    }
    const { partner_id, waba_id, directory_version } = target;
    const version = directory_version || undefined;
    const found = await cache.get(`${partner_id}/${waba_id}/${named}`, version, async () => {
      const numbers = itemsOf(await ask(NUMBERS, { target }, call));
      // A refusal is not remembered: a number that is added is seen at once.
      if (!numbers.some(({ id }) => id === named)) {
        throw invalidField('phone_number_id', 'does not belong to the WABA');
      }
      return { phone_number_id: named };
    });
    return found.phone_number_id;
  };
}
