// The two RPCs: both hand their work to the connector of the partner.
import type { Handlers } from '@bmg/common/rpc';
import type {
  ConnectorReply,
  DestinationsDefinition,
  OutgoingEvent,
  SendOutcome,
} from '@bmg/proto/destinations';
import type { Size } from './connectors/connector';
import { ConnectorFailed, type Connectors } from './connectors/connectors';

/** A connector is not trusted with longer texts. */
const TEXT_MAX_LENGTH = 300;

const sizeOf = (events: readonly OutgoingEvent[]): Size => ({
  events: events.length,
  bytes: events.reduce((sum, { body }) => sum + body.length, 0),
});

const notStored = (error: string): SendOutcome => ({
  is_stored: false,
  error: error.slice(0, TEXT_MAX_LENGTH),
  is_permanent: false,
});

const shortened = (outcome: SendOutcome): SendOutcome => ({
  ...outcome,
  error: outcome.error.slice(0, TEXT_MAX_LENGTH),
});

export function createDestinationsHandlers(
  connectors: Pick<Connectors, 'run'>,
): Handlers<DestinationsDefinition> {
  return {
    async send(request) {
      const { partner_id, events } = request;
      const replied = await connectors
        .run(partner_id, { send: request }, sizeOf(events))
        .catch(failureOf);
      const outcomes =
        'failure' in replied ? [] : replied.outcomes.slice(0, events.length).map(shortened);
      const missing = notStored('failure' in replied ? replied.failure : 'failed');
      return { outcomes: events.map((_event, at) => outcomes[at] ?? missing) };
    },
    async check(request) {
      const { partner_id, event } = request;
      const size = sizeOf(event ? [event] : []);
      const replied = await connectors.run(partner_id, { check: request }, size).catch(failureOf);
      if ('failure' in replied) return { outcome: notStored(replied.failure), fault: undefined };
      const { fault, outcomes } = replied;
      if (fault === undefined) {
        return { outcome: shortened(outcomes[0] ?? notStored('failed')), fault: undefined };
      }
      const { setting, problem } = fault;
      return {
        outcome: undefined,
        fault: {
          setting: setting.slice(0, TEXT_MAX_LENGTH),
          problem: problem.slice(0, TEXT_MAX_LENGTH),
        },
      };
    },
  };
}

/** Only a failed connector has an outcome for its events; anything else is a bug. */
function failureOf(error: unknown): { failure: string } | ConnectorReply {
  if (error instanceof ConnectorFailed) return { failure: error.message };
  throw error;
}
