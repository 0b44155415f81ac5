// Connect sessions: one record per link, found by the keyed hash of its token.
import type { Collection, Db, Filter } from 'mongodb';
import type { Indexes } from '@bmg/common/mongo';
import {
  dueEvent,
  DUE_EVENTS,
  dueEventIndex,
  forgetEvents,
  type DueEvent,
  type HoldsDueEvents,
} from '../../../ground/due-events';
import { changeOne } from '../../../ground/insert';
import {
  completableSince,
  sessionMachine,
  type SessionEvent,
  type SessionStatus,
} from '../connect-session';

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

export type Sessions = ReturnType<typeof createSessions>;

export const SESSIONS = 'connect_sessions';
export const sessionIndexes: Indexes = {
  [SESSIONS]: [
    { key: { token_hash: 1 }, unique: true },
    { key: { partner_id: 1, created_at: 1 } },
    { key: { purge_at: 1 }, expireAfterSeconds: 0 },
    dueEventIndex,
  ],
};

export function createSessions(db: Db) {
  const sessions: Collection<Session> = db.collection(SESSIONS);
  const move = movesIn(sessions);
  return {
    insert: (session: Session) => sessions.insertOne(session),
    /** All that are kept for a partner; counts no further than `most`. */
    count: (partner_id: string, most: number) =>
      sessions.countDocuments({ partner_id }, { limit: most }),
    findByToken: (token_hash: string) => sessions.findOne({ token_hash }),
    find: (partner_id: string, _id: string) => sessions.findOne({ _id, partner_id }),
    /** Marks the session as opened; null if it can no longer be opened. */
    open: (session: Session) => move(session, 'open'),
    /** Ties the session to one code, also a second time; null if another code has it. */
    begin: (session: Session, exchange_id: string) =>
      move(session, 'begin', {
        filter: {
          $or: [
            { status: { $in: [...sessionMachine.from('begin')] } },
            { status: sessionMachine.to('begin'), exchange_id },
          ],
        },
        set: { exchange_id },
      }),
    /** Frees the session for another code. Stores the event with it, once for a code. */
    async abandon(session: Session, exchange_id: string, due?: DueEvent) {
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
    consume: (session: Session, exchange_id: string) =>
      move(session, 'consume', {
        filter: {
          status: { $in: [...sessionMachine.from('consume')] },
          $or: [{ exchange_id }, { exchange_id: null }],
        },
        set: { exchange_id },
      }),
    /** Counts one report of the page, with its event; false once `reports_max` is reached. */
    async countReport({ _id, partner_id }: Session, reports_max: number, event?: DueEvent) {
      const { matchedCount } = await sessions.updateOne(
        { _id, partner_id, reports: { $lt: reports_max } },
        { $inc: { reports: 1 }, ...dueEvent(event) },
      );
      return matchedCount === 1;
    },
    /** Sessions with unpublished events. */
    withEventsDue: (limit: number) => sessions.find(DUE_EVENTS).limit(limit).toArray(),
    forgetEvents: (rows: Session[]) => forgetEvents(db, SESSIONS, rows),
    /**
     * Deletes the sessions that could still be completed, with `key_id` only those that this key
     * created: links stop working with the key under which they were created. Returns how many
     * there were.
     */
    async deleteUnfinished(partner_id: string, now: Date, key_id?: string) {
      const { deletedCount } = await sessions.deleteMany({
        partner_id,
        ...(key_id !== undefined && { key_id }),
        status: { $ne: sessionMachine.to('consume') },
        created_at: { $gte: completableSince(now) },
      });
      return deletedCount;
    },
  };
}

/** Moves a session by an event of its machine. */
const movesIn =
  (sessions: Collection<Session>) =>
  (
    { _id, partner_id }: Session,
    event: SessionEvent,
    { filter, set, due }: { filter?: Filter<Session>; set?: Partial<Session>; due?: DueEvent } = {},
  ): Promise<Session | null> =>
    changeOne(
      sessions,
      { _id, partner_id, ...(filter ?? { status: { $in: [...sessionMachine.from(event)] } }) },
      { $set: { status: sessionMachine.to(event), ...set }, ...dueEvent(due) },
    );
