// Resolves the number of a request: the target's, or another number of the account in the request's
// field `phone_number_id` (contract, Client: multi-number rule). The upstream must list it for the
// account, because a token may also reach numbers of other accounts.
import { invalidField } from '@bmg/common/errors';
import { createVersionedCache } from '@bmg/common/directory';
import type { Call } from '@bmg/common/rpc';
import { itemsOf, type Question, type Runner, type Targeted } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';

/**
 * Steps of a number's life cycle follow each other within seconds, and need one look-up together.
 */
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
      // Refusals are not cached, so that a new number is found at once.
      if (!numbers.some(({ id }) => id === named)) {
        throw invalidField('phone_number_id', 'does not belong to the WABA');
      }
      return { phone_number_id: named };
    });
    return found.phone_number_id;
  };
}
