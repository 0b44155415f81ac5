// Keeps calls of partners for the console: in memory, until they are sent to onboarding together,
// a second later. A partner who calls rarely finds all calls, a busy one a share of them, so
// that it fills neither this memory nor the database; failed calls have a share of their own. Calls
// are lost while onboarding is unreachable.
import { groupBy } from '@bmg/common/collections';
import { isUnimplemented } from '@bmg/common/errors';
import { ownCall, type Client } from '@bmg/common/rpc';
import { unsampled, type Logger } from '@bmg/common/telemetry';
import type { LoggedRequest, OnboardingDefinition } from '@bmg/proto/onboarding';
import { createTokens } from '../limits/bucket';

export type RequestLog = ReturnType<typeof createRequestLog>;

interface Dependencies {
  onboarding: Pick<Client<OnboardingDefinition>, 'recordRequests'>;
  now?: () => number;
  log: Pick<Logger, 'warn'>;
}

/** Calls of a partner at once that one process keeps: as many failed ones as others. */
export const BURST = 60;
/** Calls a second that it keeps of a partner who goes on calling: one in a minute, or five. */
const RATES = { other: 1 / 60, failed: 5 / 60 };

const SEND_AFTER_MS = 1_000;
/** Calls in memory: those of two seconds, if onboarding is slow. */
const WAITING_MAX = 2_000;
/** A message may have 4 MiB, and a call at most 16 KiB. */
const BATCH_MAX = 200;
const LIMIT_MS = 5_000;

interface Waiting {
  partner_id: string;
  request: LoggedRequest;
}

export function createRequestLog({ onboarding, now = Date.now, log }: Dependencies) {
  const takes = { other: createTokens(now), failed: createTokens(now) };
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();
  const send = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const taken = waiting;
    waiting = [];
    for (let from = 0; from < taken.length; from += BATCH_MAX) {
      const partners = byPartner(taken.slice(from, from + BATCH_MAX));
      await onboarding.recordRequests({ partners }, ownCall(unsampled(), LIMIT_MS));
    }
  };
  const flush = (): Promise<void> =>
    (sending = sending.then(send).catch((error: unknown) => {
      // Onboarding may still run a release without this log.
      if (!isUnimplemented(error)) log.warn({ err: error }, 'failed to write the request log');
    }));
  return {
    name: 'request-log',
    start: async (): Promise<void> => undefined,
    stop: flush,
    /** True if a call that was just answered is kept: `record` follows. */
    takes(partner_id: string, failed: boolean): boolean {
      const kind = failed ? 'failed' : 'other';
      return waiting.length < WAITING_MAX && takes[kind](partner_id, RATES[kind], BURST).allowed;
    },
    record(partner_id: string, request: LoggedRequest): void {
      timer ??= setTimeout(() => void flush(), SEND_AFTER_MS);
      waiting.push({ partner_id, request });
    },
  };
}

const byPartner = (calls: Waiting[]): Array<{ partner_id: string; requests: LoggedRequest[] }> =>
  [...groupBy(calls, ({ partner_id }) => partner_id)].map(([partner_id, group]) => ({
    partner_id,
    requests: group.map(({ request }) => request),
  }));
