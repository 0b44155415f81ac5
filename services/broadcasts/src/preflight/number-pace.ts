// How fast a number sends now, and how many contacts of broadcasts are queued on it.
import type { Credential } from '@bmg/common/directory';
import { attempted, type Counts } from '../contact-states';
import { broadcastRate, limitOf, type Pace } from '../pace';
import type { Broadcasts } from '../records';
import type { Broadcast } from '../ground/types';

export interface NumberPace {
  rate_per_sec: number;
  /** The part of the rate that broadcasts may use. */
  broadcasts_per_sec: number;
  /** Contacts that are not attempted yet; those of scheduled broadcasts excluded. */
  queued: number;
}

export interface NumberPaceDependencies {
  broadcasts: Pick<Broadcasts, 'queuedOn'>;
  pace: Pick<Pace, 'rate'>;
  share_percent: number;
  readCounts(list: Broadcast[]): Promise<(broadcast: Broadcast) => Counts>;
}

/** A number with more queued broadcasts reports the contacts of this many. */
const QUEUED_MAX = 200;

export async function readNumberPace(
  { broadcasts, pace, share_percent, readCounts }: NumberPaceDependencies,
  phone_number_id: string,
  credential: Credential,
): Promise<NumberPace> {
  const [current = Infinity, list] = await Promise.all([
    pace.rate(phone_number_id),
    broadcasts.queuedOn(phone_number_id, QUEUED_MAX),
  ]);
  const countsOf = await readCounts(list);
  const left = list.map((one) => one.total - attempted(countsOf(one).tally));
  const limit = limitOf(credential);
  const full = broadcastRate(limit, share_percent);
  // Lower while the upstream refuses messages of the number with 130429.
  const broadcasts_per_sec = Math.min(full, current);
  return {
    rate_per_sec: (limit * broadcasts_per_sec) / full,
    broadcasts_per_sec,
    queued: left.reduce((sum, contacts) => sum + Math.max(0, contacts), 0),
  };
}
