// One partner's share of the upstream's limits on management requests, which all partners share.
// After refusals in a row for too many requests, further ones for the number or account wait, longer after
// each; and a partner follows a bounded number of lists at a time.
import type { Target } from '@bmg/proto/common';
import { LRUCache } from '../cache';
import { ApiError } from '../errors';
import { createPool } from '../overload';
import type { Logger } from '../telemetry';

/** The subject of a request: the account, and the number if its path names one. */
export interface Concerned {
  target: Target;
  number: string | false;
}

export type AccountLimits = ReturnType<typeof createAccountLimits>;

/** The upstream's limit on the app, and on one account. */
const APP_LIMIT = 4;
const ACCOUNT_LIMIT = 80007;

/** Lists followed at a time in this process, and those of one partner. */
const LISTS_MAX = 80;
export const LISTS_OF_PARTNER = 20;
const RETRY_AFTER_S = 1;
/** Numbers and accounts that wait; beyond them the least recently used one is evicted. */
const WAITING_MAX = 10_000;

/** Refusals in a row from which requests wait; a single one may be a peak that is over. */
export const REFUSALS_MIN = 3;
/** The first wait; each further refusal doubles it, up to the wait that the upstream requests. */
const WAIT_MS = 2_000;

interface Wait {
  until: number;
  refusals: number;
  what: 'number' | 'account';
  upstream_code: number;
  upstream_trace_id: string | undefined;
}

export function createAccountLimits(log: Logger, now: () => number = () => performance.now()) {
  const waits = new LRUCache<string, Wait>({ max: WAITING_MAX });
  const share = LISTS_OF_PARTNER / LISTS_MAX;
  const lists = createPool(
    { server: 'upstream', reason: 'lists', holder: 'partner', max: LISTS_MAX, share },
    log,
  );

  return {
    /** Runs a request, unless the upstream has just refused several for this number or account. */
    async run<T>({ target: { waba_id }, number }: Concerned, ask: () => Promise<T>): Promise<T> {
      const wait = [waits.get(`account ${waba_id}`), waits.get(`number ${number}`)].find(
        (known) => known !== undefined && known.until > now(),
      );
      if (wait) throw stillLimited(wait, wait.until - now());
      try {
        const answer = await ask();
        waits.delete(`account ${waba_id}`);
        waits.delete(`number ${number}`);
        return answer;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { upstream_code, upstream_trace_id, retry_after_s = 0 } = error;
        if (upstream_code === APP_LIMIT || upstream_code === ACCOUNT_LIMIT) {
          const what = number && upstream_code === APP_LIMIT ? 'number' : 'account';
          const key = `${what} ${what === 'number' ? number : waba_id}`;
          const refusals = (waits.get(key)?.refusals ?? 0) + 1;
          const until = now() + waitMs(refusals, retry_after_s * 1_000);
          waits.set(key, { until, refusals, what, upstream_code, upstream_trace_id });
        }
        throw error;
      }
    },
    /** Follows a list of the upstream, one page at a time. Throws at once if too many are followed. */
    list: <T>(partner_id: string, follow: () => Promise<T>): Promise<T> =>
      lists.run(partner_id, tooManyLists, follow),
  };
}

const tooManyLists = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', 'too many lists are being read: try again', {
    retry_after_s: RETRY_AFTER_S,
  });

const waitMs = (refusals: number, max_ms: number): number =>
  refusals < REFUSALS_MIN ? 0 : Math.min(max_ms, WAIT_MS * 2 ** (refusals - REFUSALS_MIN));

function stillLimited({ what, upstream_code, upstream_trace_id }: Wait, left_ms: number): ApiError {
  const retry_after_s = Math.ceil(left_ms / 1_000);
  return new ApiError(
    'UPSTREAM_ERROR',
    `the upstream has refused requests for this ${what} because of its rate limit: try again in ${retry_after_s} s`,
    { upstream_code, upstream_trace_id, retryable: true, retry_after_s },
  );
}
