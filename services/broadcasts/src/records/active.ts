// The broadcasts of all partners that workers look for. They are read in pages of bounded size, so
// that a partner with many of them does not delay the work of others: once a partner has had its
// share, further pages leave it out.
import type { Collection } from 'mongodb';
import { ACTIVE, broadcastMachine, type BroadcastEvent } from '../ground/broadcast-machine';
import type { Broadcast } from '../ground/types';

export interface ActiveNumber {
  partner_id: string;
  ids: number[];
}

export const createActiveBroadcasts = (broadcasts: Collection<Broadcast>) => ({
  /** Moves due broadcasts to `pending`; returns when the next one before `horizon` is due. */
  async fallDue(now: Date, horizon: Date): Promise<Date | undefined> {
    let next: Date | undefined;
    await inFairPages(async (excluded, limit) => {
      const soon = await broadcasts
        .find({ status: inStateFor('fallDue'), scheduled_at: { $lte: horizon }, ...excluded })
        .project<Pick<Broadcast, '_id' | 'partner_id' | 'scheduled_at'>>({
          partner_id: 1,
          scheduled_at: 1,
        })
        .sort({ scheduled_at: 1 })
        .limit(limit)
        .toArray();
      const due = soon.filter(({ scheduled_at }) => scheduled_at !== null && scheduled_at <= now);
      next = soon[due.length]?.scheduled_at ?? undefined;
      if (due.length > 0) {
        await broadcasts.updateMany(
          { _id: { $in: due.map(({ _id }) => _id) }, status: inStateFor('fallDue') },
          { $set: { status: broadcastMachine.to('fallDue') } },
        );
      }
      return { found: due.length, taken: due };
    });
    return next;
  },
  /**
   * Numbers with active broadcasts, and the ids of the oldest ones. Every partner has its share.
   */
  async activeByNumber(each_max: number): Promise<Map<string, ActiveNumber>> {
    const numbers = new Map<string, ActiveNumber>();
    let last = 0;
    await inFairPages(async (excluded, limit) => {
      const full = [...numbers].filter(([, { ids }]) => ids.length >= each_max);
      const page = await broadcasts
        .find({
          status: { $in: [...ACTIVE] },
          _id: { $gt: last },
          ...excluded,
          // A number with many broadcasts does not hide the partner's other numbers.
          ...(full.length > 0 && { phone_number_id: { $nin: full.map(([number]) => number) } }),
        })
        .project<Pick<Broadcast, '_id' | 'partner_id' | 'phone_number_id'>>({
          partner_id: 1,
          phone_number_id: 1,
        })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      last = page.at(-1)?._id ?? last;
      return { found: page.length, taken: page.filter((one) => addTo(numbers, one, each_max)) };
    });
    return numbers;
  },
  load: (ids: number[]): Promise<Broadcast[]> =>
    ids.length === 0 ? Promise.resolve([]) : broadcasts.find({ _id: { $in: ids } }).toArray(),
  countProcessing: (phone_number_id: string): Promise<number> =>
    broadcasts.countDocuments({ status: 'processing', phone_number_id }),
  /** Those that are queued or running on a number, at most `limit`. */
  queuedOn: (phone_number_id: string, limit: number): Promise<Broadcast[]> =>
    broadcasts
      .find({ status: { $in: ['pending', 'processing'] }, phone_number_id })
      .limit(limit)
      .toArray(),
});

/** False once the number has `each_max` of them. */
function addTo(
  numbers: Map<string, ActiveNumber>,
  { _id, partner_id, phone_number_id }: Pick<Broadcast, '_id' | 'partner_id' | 'phone_number_id'>,
  each_max: number,
): boolean {
  const number = numbers.get(phone_number_id) ?? { partner_id, ids: [] };
  numbers.set(phone_number_id, number);
  if (number.ids.length >= each_max) return false;
  number.ids.push(_id);
  return true;
}

/** A filter for the states in which the event is allowed. */
export const inStateFor = (event: BroadcastEvent) => ({ $in: [...broadcastMachine.from(event)] });

/** Documents per page, and per partner. The rest follows at the next poll, a second later. */
const PAGE_MAX = 1_000;
const PARTNER_MAX = 500;
const PAGES_MAX = 10;

/**
 * `read` reads one page of at most `limit` documents; returns how many it found, and those that
 * count against the shares of their partners. A page that is not full is the last one.
 */
async function inFairPages(
  read: (
    excluded: { partner_id?: { $nin: string[] } },
    limit: number,
  ) => Promise<{ found: number; taken: Array<{ partner_id: string }> }>,
): Promise<void> {
  const taken = new Map<string, number>();
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const full = [...taken].filter(([, count]) => count >= PARTNER_MAX).map(([id]) => id);
    const { found, taken: more } = await read(
      full.length > 0 ? { partner_id: { $nin: full } } : {},
      PAGE_MAX,
    );
    for (const { partner_id } of more) taken.set(partner_id, (taken.get(partner_id) ?? 0) + 1);
    if (found < PAGE_MAX) return;
  }
}
