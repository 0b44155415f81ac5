// One worker at a time is at a sign-up code: a double click waits for the first request and gets its
// answer, and what a crash has left behind is taken over after seconds.
import { ApiError } from '@bmg/common/errors';
import { newId } from '@bmg/common/ids';
import { pause } from '@bmg/common/lifecycle';
import { HOP_MS, type Call } from '@bmg/common/rpc';
import type { Exchange, Exchanges } from '../store/code-exchanges';

const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_500;
const ASK_EVERY_MS = 150;
/** What an answer needs once the waiting is over. */
const MARGIN_MS = 250;

export interface HeldCode {
  exchange: Exchange;
  /** Ends the lease, so that a repeat need not wait for its end. */
  release(): Promise<void>;
}

/** The code's record once nobody else is at it: held by us, or finished by another worker. */
export async function holdCode(
  exchanges: Exchanges,
  id: { _id: string; partner_id: string },
  now: () => Date,
  call: Call,
): Promise<HeldCode> {
  const holder = newId('hld');
  const lease = () => ({ holder, until: new Date(now().getTime() + LEASE_MS) });
  const patience = call.deadline - HOP_MS - MARGIN_MS;
  for (;;) {
    const { exchange, held } = await exchanges.claim(id, lease(), now());
    if (held) return { exchange, release: keep(exchanges, id._id, lease, holder) };
    if (exchange.status === 'done' || exchange.status === 'failed') {
      return { exchange, release: async () => undefined };
    }
    if (Date.now() + ASK_EVERY_MS > patience || call.signal?.aborted) {
      throw new ApiError('SERVICE_UNAVAILABLE', 'the same code is being worked on, try again', {
        retry_after_s: 1,
      });
    }
    await pause(ASK_EVERY_MS, call.signal);
  }
}

/** Renews the lease while the work is under way. */
function keep(
  exchanges: Exchanges,
  _id: string,
  lease: () => { holder: string; until: Date },
  holder: string,
): () => Promise<void> {
  const timer = setInterval(() => {
    // A lease that was not renewed ends by itself: then another worker may do the same once more.
    exchanges.renew(_id, lease()).catch(() => undefined);
  }, RENEW_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await exchanges.release(_id, holder).catch(() => undefined);
  };
}
