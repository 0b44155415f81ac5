// Sessions of the partner's console: one record per log-in, found by the keyed hash of its token.
import type { Collection, Db, IndexDescription } from 'mongodb';

export interface DashboardSession {
  /** Keyed hash of the token. Only the browser's cookie holds the token itself. */
  _id: string;
  partner_id: string;
  /** Of the partner key that opened it, if it was one: a rotation of the key ends the session. */
  key_hash?: string;
  /** Who signed in, if it was a person. */
  person_id?: string;
  /** Names the session without its token; a session of the previous release has none. */
  session_id?: string;
  created_at: Date;
  /**
   * When the issuer checked who signs in, or null if it did not say. Absent: at the log-in.
   */
  authenticated_at?: Date | null;
  used_at: Date;
  /** When the TTL index removes the record. */
  purge_at: Date;
}

export interface DashboardSessions {
  insert(session: DashboardSession): Promise<void>;
  find(token_hash: string): Promise<DashboardSession | null>;
  touch(token_hash: string, at: Date): Promise<void>;
  remove(token_hash: string): Promise<void>;
  /** The sessions of the partner, or of one person, newest first, ended ones included. */
  newestOf(partner_id: string, person_id?: string): Promise<DashboardSession[]>;
  /** All sessions of the partner, or of one person. */
  removeOf(partner_id: string, person_id?: string): Promise<void>;
  /** All sessions of a person but the newest ones. */
  removeOldest(partner_id: string, person_id: string, kept: number): Promise<void>;
  /** Ends the session with this name; false if there is none. */
  removeNamed(partner_id: string, session_id: string, person_id?: string): Promise<boolean>;
}

const LIST_MAX = 50;

const filterOf = (partner_id: string, person_id: string | undefined) => ({
  partner_id,
  ...(person_id !== undefined && { person_id }),
});

export const DASHBOARD_SESSIONS = 'dashboard_sessions';
export const dashboardSessionIndexes: IndexDescription[] = [
  { key: { partner_id: 1 } },
  { key: { purge_at: 1 }, expireAfterSeconds: 0 },
];

export function createDashboardSessions(db: Db): DashboardSessions {
  const sessions: Collection<DashboardSession> = db.collection(DASHBOARD_SESSIONS);
  return {
    async insert(session) {
      await sessions.insertOne(session);
    },
    find: (_id) => sessions.findOne({ _id }),
    async touch(_id, used_at) {
      await sessions.updateOne({ _id }, { $max: { used_at } });
    },
    async remove(_id) {
      await sessions.deleteOne({ _id });
    },
    newestOf: (partner_id, person_id) =>
      sessions
        .find(filterOf(partner_id, person_id))
        .sort({ created_at: -1 })
        .limit(LIST_MAX)
        .toArray(),
    async removeOf(partner_id, person_id) {
      await sessions.deleteMany(filterOf(partner_id, person_id));
    },
    async removeOldest(partner_id, person_id, kept) {
      const oldest = await sessions
        .find({ partner_id, person_id }, { projection: { _id: 1 } })
        .sort({ created_at: -1 })
        .skip(kept)
        .limit(LIST_MAX)
        .toArray();
      if (oldest.length > 0) {
        await sessions.deleteMany({ _id: { $in: oldest.map(({ _id }) => _id) } });
      }
    },
    async removeNamed(partner_id, session_id, person_id) {
      const filter = { ...filterOf(partner_id, person_id), session_id };
      return (await sessions.deleteOne(filter)).deletedCount === 1;
    },
  };
}
