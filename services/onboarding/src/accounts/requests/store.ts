// The request log: the calls of the API that gateways keep, for the console.
import { newId } from '@bmg/common/ids';
import type { Collection, Db, Filter } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import type { ListRequestsRequest } from '@bmg/proto/onboarding';

export interface RequestRow {
  /** Sorts by the time of the call. */
  _id: string;
  partner_id: string;
  at: Date;
  /** Method and path template. */
  endpoint: string;
  status: number;
  /** The first digit of the status. */
  status_class: number;
  code: string | null;
  duration_ms: number;
  request_id: string;
  ignored: string | null;
  upstream_code: number | null;
  /** Null for the partner key and for a sign-up link. */
  api_key: string | null;
  waba_id: string | null;
  phone_number_id: string | null;
  /** JSON texts without contents. */
  parameters: string | null;
  request_body: string | null;
  answer_body: string | null;
}

export const REQUESTS = 'requests';
const KEPT_DAYS = 30;
/** A purge of a client reads those of its partner. */
export const requestIndexes: Indexes = {
  [REQUESTS]: [
    { key: { partner_id: 1, _id: -1 } },
    { key: { partner_id: 1, endpoint: 1, _id: -1 } },
    { key: { partner_id: 1, api_key: 1, _id: -1 } },
    { key: { partner_id: 1, status_class: 1, _id: -1 } },
    { key: { partner_id: 1, request_id: 1, _id: -1 } },
    { key: { at: 1 }, expireAfterSeconds: KEPT_DAYS * 86_400 },
  ],
};

export function createRequests(db: Db) {
  const requests: Collection<RequestRow> = db.collection(REQUESTS);
  return {
    async insert(rows: Array<Omit<RequestRow, '_id'>>) {
      if (rows.length === 0) return;
      const named = rows.map((row) => ({ _id: newId('call', row.at.getTime()), ...row }));
      await requests.insertMany(named, { ordered: false });
    },
    /** Newest first, below the ID `cursor`. */
    page: (request: ListRequestsRequest, limit: number) =>
      requests.find(queryOf(request)).sort({ _id: -1 }).limit(limit).toArray(),
  };
}

/** The value of `key_id` for the calls without an API key. */
const WITHOUT_KEY = 'partner_key';

const queryOf = ({
  partner_id,
  endpoint,
  status_classes,
  key_id,
  request_id,
  id,
  cursor,
}: ListRequestsRequest): Filter<RequestRow> => ({
  partner_id,
  ...(endpoint !== undefined && { endpoint }),
  ...(status_classes.length > 0 && { status_class: { $in: status_classes } }),
  ...(key_id !== undefined && { api_key: key_id === WITHOUT_KEY ? null : key_id }),
  ...(request_id !== undefined && { request_id }),
  ...(id !== undefined ? { _id: id } : cursor !== undefined && { _id: { $lt: cursor } }),
});
