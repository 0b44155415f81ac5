// A lease on a sign-up code, so that one worker at a time processes it: a double click waits for
// the first request and gets its answer, and the lease of a crashed worker expires after seconds.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { HOP_MS, type Call } from '@bmg/common/rpc';
import type { CodeExchange, CodeExchanges } from './store/code-exchanges';

const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_500;
const POLL_EVERY_MS = 150;
/** Time reserved for the answer once the wait is over. */
const MARGIN_MS = 250;

export interface HeldCode {
  exchange: CodeExchange;
  /** Ends the lease, so that a repeated request need not wait for it to expire. */
  release(): Promise<void>;
}

/**
 * Waits until the code's exchange is ours or finished (`done` or `failed`), and returns it. Throws
 * a retryable SERVICE_UNAVAILABLE if another worker still holds the code shortly before the call's
 * deadline.
 */
export async function holdCode(
  exchanges: CodeExchanges,
  id: { _id: string; partner_id: string },
  now: () => Date,
  call: Call,
): Promise<HeldCode> {
  const holder = newId('hld');
  const lease = () => ({ holder, until: new Date(now().getTime() + LEASE_MS) });
  const wait_until = call.deadline - HOP_MS - MARGIN_MS;
  for (;;) {
    const { exchange, held } = await exchanges.claim(id, lease(), now());
    if (held) return { exchange, release: keepRenewing(exchanges, id._id, lease, holder) };
    if (exchange.status === 'done' || exchange.status === 'failed') {
      return { exchange, release: async () => undefined };
    }
    if (Date.now() + POLL_EVERY_MS > wait_until || call.signal?.aborted) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'this code is already being processed: try again', {
        retry_after_s: 1,
      });
    }
    await pause(POLL_EVERY_MS, call.signal);
  }
}

/** Renews the lease until the returned function is called, which releases it. */
function keepRenewing(
  exchanges: CodeExchanges,
  _id: string,
  lease: () => { holder: string; until: Date },
  holder: string,
): () => Promise<void> {
  const timer = setInterval(() => {
    // A failed renewal lets the lease expire. Another worker may then repeat the work, which is
    // safe.
    exchanges.renew(_id, lease()).catch(() => undefined);
  }, RENEW_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await exchanges.release(_id, holder).catch(() => undefined);
  };
}
