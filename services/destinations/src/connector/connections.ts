// What a connector does: sends events through the open destinations of its partner, and checks settings.
import { DestinationError, type DestinationType } from '@bmg/common/destinations';
import type {
  CheckRequest,
  OutgoingEvent,
  SendRequest,
  SettingFault,
} from '@bmg/proto/destinations';
import {
  CHECK_LIMIT_MS,
  type DestinationEvent,
  type DestinationGuard,
  type Sent,
} from '../kinds/destination';
import { openDestination } from '../kinds/kinds';
import { createOpenDestinations } from '../kinds/open-destinations';

export interface Connections {
  /** The results have the length and the order of the events. Never rejects. */
  send(request: SendRequest): Promise<Sent[]>;
  /** Connects with a client of its own and stores the event; `fault` names a setting to mend. */
  check(request: CheckRequest): Promise<{ sent?: Sent; fault?: SettingFault }>;
  close(): Promise<void>;
}

export function createConnections(guard: DestinationGuard): Connections {
  const open = createOpenDestinations();
  return {
    send: ({ endpoint_id, version, destination, events }) =>
      open.send(
        {
          key: endpoint_id,
          version,
          open: () => openDestination(typeOf(destination), destination?.settings ?? {}, guard),
        },
        events.map(eventOf),
        new AbortController().signal,
      ),
    async check({ destination, event }) {
      try {
        return { sent: await storeTestEvent(guard, destination, event) };
      } catch (error) {
        if (!(error instanceof DestinationError)) throw error;
        return { fault: { setting: error.setting, problem: error.problem } };
      }
    },
    close: () => open.close(),
  };
}

/** The service has checked the type. */
const typeOf = (destination: SendRequest['destination']): DestinationType =>
  destination?.type as DestinationType;

const eventOf = ({ body, ...event }: OutgoingEvent): DestinationEvent => ({
  ...event,
  ordering_key: event.ordering_key,
  body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
});

async function storeTestEvent(
  guard: DestinationGuard,
  destination: CheckRequest['destination'],
  event: CheckRequest['event'],
): Promise<Sent> {
  const signal = AbortSignal.timeout(CHECK_LIMIT_MS);
  const opened = await openDestination(typeOf(destination), destination?.settings ?? {}, guard);
  try {
    await opened.check(signal);
    const [sent] = await opened.send([eventOf(event as OutgoingEvent)], signal);
    return sent as Sent;
  } finally {
    await opened.close();
  }
}
