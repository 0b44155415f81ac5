// Publishes the events that rows of clients, connect sessions and partners hold. Fan-out sends them
// to the receivers whose filters name them.
import { topics, type Bus } from '@bmg/common/bus';
import { createPoller, type Poller } from '@bmg/common/lifecycle';
import { occurrence } from '@bmg/common/messages';
import type { Logger } from '@bmg/common/telemetry';
import type { DueEvent, HoldsDueEvents } from '../../ground/due-events';
import type { Client, Clients } from '../../ground/clients';
import type { Partners } from '../../ground/partners';
import type { Sessions } from '../sign-up';

interface DueEventDependencies {
  clients: Pick<Clients, 'withEventsDue' | 'forgetEvents'>;
  sessions: Pick<Sessions, 'withEventsDue' | 'forgetEvents'>;
  partners: Pick<Partners, 'withEventsDue' | 'forgetEvents'>;
  bus: Pick<Bus, 'publish'>;
  log: Logger;
}

/** Only a crash leaves events to this interval; a change wakes the publisher. */
const ROUND_EVERY_MS = 10_000;
const ROWS_AT_ONCE = 100;

export const createDueEventPoller = (deps: DueEventDependencies): Poller =>
  createPoller('due events', ROUND_EVERY_MS, () => publishDueEvents(deps), deps.log);

/** One round. Repeated after a crash: an event's ID follows from its row and key. */
export async function publishDueEvents({
  clients,
  sessions,
  partners,
  bus,
}: DueEventDependencies): Promise<boolean> {
  const more = [
    await publishFrom(bus, clients, (row) => alertsOf(row, aboutClient(row))),
    await publishFrom(bus, sessions, (row) => alertsOf(row, { state: row.state })),
    await publishFrom(bus, partners, (row) => alertsOf({ ...row, partner_id: row._id }, {})),
  ];
  return more.some(Boolean);
}

async function publishFrom<T>(
  bus: DueEventDependencies['bus'],
  store: { withEventsDue(limit: number): Promise<T[]>; forgetEvents(rows: T[]): Promise<void> },
  alertsOfRow: (row: T) => ReturnType<typeof alertsOf>,
): Promise<boolean> {
  const rows = await store.withEventsDue(ROWS_AT_ONCE);
  if (rows.length === 0) return false;
  await bus.publish(rows.flatMap(alertsOfRow));
  await store.forgetEvents(rows);
  return rows.length === ROWS_AT_ONCE;
}

const aboutClient = ({ waba_id, phone_number_id, phone_number, display_name }: Client) => ({
  waba_id,
  phone_number_id,
  phone_number,
  display_name,
});

type Facts = Record<string, string | null>;

const alertsOf = (
  { _id, partner_id, events_due = [] }: HoldsDueEvents & { _id: string; partner_id: string },
  about: Facts,
) =>
  events_due.map(({ event, key, at, data }: DueEvent) => {
    const facts: Facts = { ...about, ...data };
    return {
      topic: topics.alert,
      key: partner_id,
      message: {
        partner_id,
        occurrence: occurrence(event, _id, key),
        timestamp: Math.floor(at.getTime() / 1_000),
        data: JSON.stringify(facts),
        event,
        waba_id: facts['waba_id'] ?? undefined,
        phone_number_id: facts['phone_number_id'] ?? undefined,
      },
    };
  });
