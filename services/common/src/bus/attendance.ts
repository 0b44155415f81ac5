// Looks up what Kafka knows of a consumer group: whether it has members, and how far it is behind. A
// dead member counts until its session expires.
import type { Admin, Kafka } from 'kafkajs';
import type { Backlog } from './bus';
import { backlogOf, lagOf } from './lag';

export interface Attendance {
  /** Rejects if the group has no members. */
  attended(group_id: string): Promise<void>;
  /** Returns the messages of the topic that the group has not committed. */
  behind(name: string, group_id: string): Promise<Backlog>;
  stop(): void;
}

export function createAttendance(kafka: Pick<Kafka, 'admin'>): Attendance {
  let admin: Admin | undefined;
  const close = (): void => {
    admin?.disconnect().catch(() => undefined);
    admin = undefined;
  };
  const ask = async <T>(question: (asked: Admin) => Promise<T>): Promise<T> => {
    const asked = (admin ??= kafka.admin({ retry: { retries: 0 } }));
    try {
      await asked.connect();
      return await question(asked);
    } catch (error) {
      if (admin === asked) close();
      throw error;
    }
  };
  return {
    async attended(group_id) {
      const { groups } = await ask((asked) => asked.describeGroups([group_id]));
      if (!groups.some(({ members }) => members.length > 0)) {
        throw new Error(`consumer group ${group_id} has no members`);
      }
    },
    async behind(name, group_id) {
      const lags = await ask((asked) => lagOf(asked, { name, group_id }));
      return backlogOf(lags);
    },
    stop: close,
  };
}
