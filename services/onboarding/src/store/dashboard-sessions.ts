// Sessions of the partner's console: one record per log-in, found by the keyed hash of its token.
import type { Collection, Db, IndexDescription } from 'mongodb';

export interface DashboardSession {
  /** Keyed hash of the token. Only the browser's cookie holds the token itself. */
  _id: string;
  partner_id: string;
  /** Hash of the partner key that opened it: a rotation of the key ends the session. */
  key_hash: string;
  created_at: Date;
  used_at: Date;
  /** When the TTL index removes the record. */
  purge_at: Date;
}

export interface DashboardSessions {
  insert(session: DashboardSession): Promise<void>;
  find(token_hash: string): Promise<DashboardSession | null>;
  touch(token_hash: string, at: Date): Promise<void>;
  remove(token_hash: string): Promise<void>;
  /** The partner's sessions, newest first, ended ones included. */
  newestOf(partner_id: string): Promise<DashboardSession[]>;
  /** All sessions of the partner. */
  removeOf(partner_id: string): Promise<void>;
}

const LIST_MAX = 50;
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
    newestOf: (partner_id) =>
      sessions.find({ partner_id }).sort({ created_at: -1 }).limit(LIST_MAX).toArray(),
    async removeOf(partner_id) {
      await sessions.deleteMany({ partner_id });
    },
  };
}
