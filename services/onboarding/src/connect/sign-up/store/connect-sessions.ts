// Connect sessions: one record per link, found by the keyed hash of its token.
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import {
  DUE_EVENTS,
  dueEvent,
  dueEventIndex,
  forgetEvents,
  type DueEvent,
  type HoldsDueEvents,
} from '../../../ground/due-events';
import { sessionMachine, type SessionEvent, type SessionStatus } from '../connect-session';

export interface Session extends HoldsDueEvents {
  _id: string;
  partner_id: string;
  token_hash: string;
  status: SessionStatus;
  /** The partner's own text, returned unchanged. */
  state: string | null;
  display_name: string | null;
  /** Origin of the page that opens the link. Absent in older records. */
  origin?: string | null;
  /** Where the page leads after the sign-up. Absent without a URL, and in older records. */
  success_url?: string;
  failure_url?: string;
  /** The API key that created it; absent for the partner key. */
  key_id?: string;
  /** The exchange of the code that is completing this session or has consumed it. */
  exchange_id: string | null;
  /** The exchange of the last code whose failure was reported to the partner. */
  failed_exchange_id?: string;
  /** How many reports of the page were logged, so that they can be bounded. */
  reports: number;
  created_at: Date;
  /** When the TTL index removes the record. */
  purge_at: Date;
}

export interface Sessions {
  insert(session: Session): Promise<void>;
  /** All that are kept for a partner; counts no further than `most`. */
  count(partner_id: string, most: number): Promise<number>;
  findByToken(token_hash: string): Promise<Session | null>;
  find(partner_id: string, session_id: string): Promise<Session | null>;
  /** Marks the session as opened; null if it can no longer be opened. */
  open(session: Session): Promise<Session | null>;
  /**
   * Ties the session to one code; null when another code has it. Safe to repeat for the same code.
   */
  begin(session: Session, exchange_id: string): Promise<Session | null>;
  /**
   * Frees the session for another code, if it is tied to this one. Stores the event with it, once
   * for a code.
   */
  abandon(session: Session, exchange_id: string, event?: DueEvent): Promise<void>;
  consume(session: Session, exchange_id: string): Promise<void>;
  /** Counts one report of the page, with its event; false once `reports_max` is reached. */
  countReport(session: Session, reports_max: number, event?: DueEvent): Promise<boolean>;
  /** Sessions with unpublished events. */
  withEventsDue(limit: number): Promise<Session[]>;
  forgetEvents(sessions: Session[]): Promise<void>;
  /**
   * Deletes sessions created since `since` that are not consumed, with `key_id` only those that this key
   * created; returns how many.
   */
  deleteUnfinished(partner_id: string, since: Date, key_id?: string): Promise<number>;
}

export const SESSIONS = 'connect_sessions';
export const sessionIndexes: IndexDescription[] = [
  { key: { token_hash: 1 }, unique: true },
  { key: { partner_id: 1, created_at: 1 } },
  { key: { purge_at: 1 }, expireAfterSeconds: 0 },
  dueEventIndex,
];

const collection = (db: Db): Collection<Session> => db.collection(SESSIONS);

/** Longer than 70 lines: one short method for each query. */
export function createSessions(db: Db): Sessions {
  const sessions = collection(db);
  const move = (
    { _id, partner_id }: Session,
    event: SessionEvent,
    { filter, set, due }: { filter?: Filter<Session>; set?: Partial<Session>; due?: DueEvent } = {},
  ): Promise<Session | null> =>
    sessions.findOneAndUpdate(
      { _id, partner_id, ...(filter ?? { status: { $in: [...sessionMachine.from(event)] } }) },
      { $set: { status: sessionMachine.to(event), ...set }, ...dueEvent(due) },
      { returnDocument: 'after' },
    );
  return {
    async insert(session) {
      await sessions.insertOne(session);
    },
    count: (partner_id, most) => sessions.countDocuments({ partner_id }, { limit: most }),
    findByToken: (token_hash) => sessions.findOne({ token_hash }),
    find: (partner_id, _id) => sessions.findOne({ _id, partner_id }),
    open: (session) => move(session, 'open'),
    begin: (session, exchange_id) =>
      move(session, 'begin', {
        filter: {
          $or: [
            { status: { $in: [...sessionMachine.from('begin')] } },
            { status: sessionMachine.to('begin'), exchange_id },
          ],
        },
        set: { exchange_id },
      }),
    async abandon(session, exchange_id, due) {
      const filter = { status: { $in: [...sessionMachine.from('abandon')] }, exchange_id };
      const set = { exchange_id: null };
      const reported =
        due &&
        (await move(session, 'abandon', {
          filter: { ...filter, failed_exchange_id: { $ne: exchange_id } },
          set: { ...set, failed_exchange_id: exchange_id },
          due,
        }));
      if (!reported) await move(session, 'abandon', { filter, set });
    },
    async consume(session, exchange_id) {
      await move(session, 'consume', {
        filter: {
          status: { $in: [...sessionMachine.from('consume')] },
          $or: [{ exchange_id }, { exchange_id: null }],
        },
        set: { exchange_id },
      });
    },
    async countReport({ _id, partner_id }, reports_max, event) {
      const { matchedCount } = await sessions.updateOne(
        { _id, partner_id, reports: { $lt: reports_max } },
        { $inc: { reports: 1 }, ...dueEvent(event) },
      );
      return matchedCount === 1;
    },
    withEventsDue: (limit) => sessions.find(DUE_EVENTS).limit(limit).toArray(),
    forgetEvents: (rows) => forgetEvents(db, SESSIONS, rows),
    async deleteUnfinished(partner_id, since, key_id) {
      const { deletedCount } = await sessions.deleteMany({
        partner_id,
        ...(key_id !== undefined && { key_id }),
        status: { $ne: sessionMachine.to('consume') },
        created_at: { $gte: since },
      });
      return deletedCount;
    },
  };
}
