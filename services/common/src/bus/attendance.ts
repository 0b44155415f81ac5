// Looks up whether a Kafka consumer group has members. A dead member counts until its session
// expires.
import type { Admin, Kafka } from 'kafkajs';

export interface Attendance {
  attended(group_id: string): Promise<void>;
  stop(): void;
}

export function createAttendance(kafka: Pick<Kafka, 'admin'>): Attendance {
  let admin: Admin | undefined;
  const close = (): void => {
    admin?.disconnect().catch(() => undefined);
    admin = undefined;
  };
  return {
    async attended(group_id) {
      const asked = (admin ??= kafka.admin({ retry: { retries: 0 } }));
      const { groups } = await asked
        .connect()
        .then(() => asked.describeGroups([group_id]))
        .catch((error: unknown) => {
          if (admin === asked) close();
          throw error;
        });
      if (!groups.some(({ members }) => members.length > 0)) {
        throw new Error(`consumer group ${group_id} has no members`);
      }
    },
    stop: close,
  };
}
