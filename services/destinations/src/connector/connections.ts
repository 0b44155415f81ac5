// What a connector does: sends events through the open destinations of its partner, and checks
// settings.
import { DestinationError, type DestinationType } from '@bmg/common/destinations';
import type {
  CheckRequest,
  OutgoingEvent,
  SendRequest,
  SettingFault,
} from '@bmg/proto/destinations';
import {
  TIMES,
  unsent,
  within,
  type Destination,
  type DestinationEvent,
  type DestinationGuard,
  type Sent,
} from '../kinds/destination';
import { openDestination } from '../kinds/kinds';
import { createOpenDestinations } from '../kinds/open-destinations';

export function createConnections(guard: DestinationGuard) {
  const open = createOpenDestinations();
  return {
    /** The results have the length and the order of the events. Never rejects. */
    send: ({ endpoint_id, version, destination, events }: SendRequest): Promise<Sent[]> =>
      open.send(
        { key: endpoint_id, version, open: () => openFor(destination, guard) },
        events.map(eventOf),
      ),
    /** Connects with a client of its own and stores the event; `fault` names a setting to mend. */
    async check({
      destination,
      event,
    }: CheckRequest): Promise<{ sent?: Sent; fault?: SettingFault }> {
      try {
        return { sent: await storeTestEvent(await openFor(destination, guard), event) };
      } catch (error) {
        if (!(error instanceof DestinationError)) throw error;
        return { fault: { setting: error.setting, problem: error.problem } };
      }
    },
    close: () => open.close(),
  };
}

/** The service has checked the type. */
const openFor = (
  destination: SendRequest['destination'],
  guard: DestinationGuard,
): Promise<Destination> =>
  openDestination(destination?.type as DestinationType, destination?.settings ?? {}, guard);

const eventOf = ({ body, ...event }: OutgoingEvent): DestinationEvent => ({
  ...event,
  ordering_key: event.ordering_key,
  body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
});

/** Check and event together take no longer than a check may. */
async function storeTestEvent(opened: Destination, event: CheckRequest['event']): Promise<Sent> {
  const until = performance.now() + TIMES.check_ms;
  try {
    await opened.check();
    const sending = opened.send([eventOf(event as OutgoingEvent)]);
    const late = unsent('timeout');
    const [sent] = await within(sending, until - performance.now()).catch(() => [late]);
    return sent as Sent;
  } finally {
    await opened.close();
  }
}
