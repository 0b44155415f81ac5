// The two RPCs: both hand their work to the connector of the partner.
import type { Handlers } from '@bmg/common/rpc';
import type {
  ConnectorReply,
  DestinationsDefinition,
  OutgoingEvent,
  SendOutcome,
} from '@bmg/proto/destinations';
import type { Size, Work } from './connectors/connector';
import { ConnectorFailed, type Connectors } from './connectors/connectors';

/** A connector is not trusted with longer texts. */
const TEXT_MAX_LENGTH = 300;

const sizeOf = (events: readonly OutgoingEvent[]): Size => ({
  events: events.length,
  bytes: events.reduce((sum, { body }) => sum + body.length, 0),
});

const short = (text: string): string => text.slice(0, TEXT_MAX_LENGTH);
const shortened = (outcome: SendOutcome): SendOutcome => ({
  ...outcome,
  error: short(outcome.error),
});
const notStored = (error = 'failed'): SendOutcome => ({
  is_stored: false,
  error,
  is_permanent: false,
});

export function createDestinationsHandlers(
  connectors: Pick<Connectors, 'run'>,
): Handlers<DestinationsDefinition> {
  const run = async (
    partner_id: string,
    work: Work,
    events: readonly OutgoingEvent[],
  ): Promise<Pick<ConnectorReply, 'outcomes' | 'fault'> & { failure?: string }> => {
    try {
      return await connectors.run(partner_id, work, sizeOf(events));
    } catch (error) {
      // Only a failed connector has an outcome for its events; anything else is a bug.
      if (!(error instanceof ConnectorFailed)) throw error;
      return { outcomes: [], fault: undefined, failure: error.message };
    }
  };
  return {
    async send(request) {
      const { partner_id, events } = request;
      const { outcomes, failure } = await run(partner_id, { send: request }, events);
      return { outcomes: events.map((_, at) => shortened(outcomes[at] ?? notStored(failure))) };
    },
    async check(request) {
      const { partner_id, event } = request;
      const replied = await run(partner_id, { check: request }, event ? [event] : []);
      const { outcomes, fault, failure } = replied;
      if (fault === undefined) {
        return { outcome: shortened(outcomes[0] ?? notStored(failure)), fault };
      }
      const { setting, problem } = fault;
      return {
        outcome: undefined,
        fault: { setting: short(setting), problem: short(problem) },
      };
    },
  };
}
