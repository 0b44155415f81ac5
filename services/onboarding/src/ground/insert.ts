// Writes of single rows, and inserts of rows that another process may insert at the same time.
import { ApiError } from '@bmg/common/errors';
import { storeOnce } from '@bmg/common/mongo';
import type {
  Collection,
  Document,
  Filter,
  OptionalUnlessRequiredId,
  UpdateFilter,
  WithId,
} from 'mongodb';

/** Returns the row after the change; null if none matches. */
export const changeOne = <T extends Document>(
  rows: Collection<T>,
  filter: Filter<T>,
  change: UpdateFilter<T>,
): Promise<WithId<T> | null> => rows.findOneAndUpdate(filter, change, { returnDocument: 'after' });

export const noSuch = (what: string): ApiError =>
  new ApiError('NOT_FOUND', `there is no such ${what}`);

/** Throws NOT_FOUND if there is none. */
export function orNotFound<T>(row: T | null | undefined, what: string): T {
  if (row) return row;
  throw noSuch(what);
}

interface Placed extends Document {
  _id: string;
  partner_id: string;
  /** From 0, unique among the partner's rows: the unique index bounds how many there are. */
  place: number;
}

/** Inserts a row of a partner. Returns false if the partner has `max` of them already. */
export async function insertInPlace<T extends Placed>(
  rows: Collection<T>,
  row: Omit<T, 'place'>,
  { max, what }: { max: number; what: string },
): Promise<boolean> {
  // An attempt fails only if another row of the partner has just taken the place.
  for (let tries = 0; tries < max; tries += 1) {
    const present = await rows
      .find({ partner_id: row['partner_id'] } as Filter<T>, { projection: { place: 1 } })
      .limit(max)
      .toArray();
    const taken = new Set(present.map((one) => one['place'] as number));
    const place = Array.from({ length: max }, (_one, index) => index).find(
      (one) => !taken.has(one),
    );
    if (place === undefined) return false;
    const placed = { ...row, place } as unknown as OptionalUnlessRequiredId<T>;
    if (await storeOnce(() => rows.insertOne(placed))) return true;
  }
  throw new Error(`failed to create ${what}: its partner created others all the time`);
}
