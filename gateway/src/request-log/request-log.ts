// Keeps calls of partners for the console: in memory, until they are sent to onboarding together,
// a second later. Of each partner a share of the calls of a minute and of a day is kept, so that a
// busy partner fills neither this memory nor the database; failed calls have a share of their own.
// Calls are lost while onboarding is unreachable.
import { isUnimplemented } from '@bmg/common/errors';
import type { Component } from '@bmg/common/lifecycle';
import { ownCall, type Client } from '@bmg/common/rpc';
import { unsampled, type Logger } from '@bmg/common/telemetry';
import type { LoggedRequest, OnboardingDefinition } from '@bmg/proto/onboarding';

export interface RequestLog extends Component {
  /** True if a call that was just answered is kept: `record` follows. */
  takes(partner_id: string, failed: boolean): boolean;
  record(partner_id: string, request: LoggedRequest): void;
}

interface Dependencies {
  onboarding: Pick<Client<OnboardingDefinition>, 'recordRequests'>;
  now?: () => number;
  log: Pick<Logger, 'warn'>;
}

/** Calls of a partner in a minute that one process keeps: as many failed ones as others. */
export const MINUTE_MAX = 60;
export const DAY_MAX = 5_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Partners whose calls are counted; calls of further partners are not kept on that day. */
const PARTNERS_MAX = 100_000;

const SEND_AFTER_MS = 1_000;
/** Calls in memory: those of two seconds, if onboarding is slow. */
const WAITING_MAX = 2_000;
/** A message may have 4 MiB, and a call at most 16 KiB. */
const BATCH_MAX = 200;
const LIMIT_MS = 5_000;

interface Share {
  minute: number;
  /** Calls that were kept: the first number is that of other calls, the second of failed ones. */
  in_minute: [number, number];
  in_day: [number, number];
}

interface Waiting {
  partner_id: string;
  request: LoggedRequest;
}

export function createRequestLog({ onboarding, now = Date.now, log }: Dependencies): RequestLog {
  const takes = createShares(now);
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
    async start() {},
    stop: flush,
    takes: (partner_id, failed) => waiting.length < WAITING_MAX && takes(partner_id, failed),
    record(partner_id, request) {
      timer ??= setTimeout(() => void flush(), SEND_AFTER_MS);
      waiting.push({ partner_id, request });
    },
  };
}

function createShares(now: () => number): RequestLog['takes'] {
  const shares = new Map<string, Share>();
  let day = 0;
  return (partner_id, failed) => {
    const at = now();
    if (Math.floor(at / DAY_MS) !== day) {
      day = Math.floor(at / DAY_MS);
      shares.clear();
    }
    const minute = Math.floor(at / MINUTE_MS);
    let share = shares.get(partner_id);
    if (!share) {
      if (shares.size === PARTNERS_MAX) return false;
      share = { minute, in_minute: [0, 0], in_day: [0, 0] };
      shares.set(partner_id, share);
    } else if (share.minute !== minute) {
      share.minute = minute;
      share.in_minute = [0, 0];
    }
    const kind = failed ? 1 : 0;
    if (share.in_minute[kind] === MINUTE_MAX || share.in_day[kind] === DAY_MAX) return false;
    share.in_minute[kind] += 1;
    share.in_day[kind] += 1;
    return true;
  };
}

function byPartner(calls: Waiting[]): Array<{ partner_id: string; requests: LoggedRequest[] }> {
  const partners = new Map<string, LoggedRequest[]>();
  for (const { partner_id, request } of calls) {
    const requests = partners.get(partner_id);
    if (requests) requests.push(request);
    else partners.set(partner_id, [request]);
  }
  return [...partners].map(([partner_id, requests]) => ({ partner_id, requests }));
}
