// Attempts at destinations: the service `destinations` sends the events, and this file hands them
// over and classifies the results. Schedule, failed list, log, replay and share are those of
// attempts at URLs.
import { createHash } from 'node:crypto';
import { addressOf, isDestinationType } from '@bmg/common/destinations';
import { ownCall, type Client } from '@bmg/common/rpc';
import type { SpanContext } from '@bmg/common/telemetry';
import type { Destination } from '@bmg/proto/common';
import type { DestinationsDefinition, OutgoingEvent, SendOutcome } from '@bmg/proto/destinations';
import { formatted, type Formatted } from './formats';
import { receiverKey } from './receiver-key';

/** The part of an attempt that is sent. */
export interface Outgoing extends Formatted {
  endpoint_id?: string | undefined;
  ordering_key?: string | undefined;
}

/** The part of an attempt's outcome that a destination decides. */
export interface StoredOutcome {
  result: 'delivered' | 'refused';
  error: string | null;
  is_permanent?: boolean;
  posted: true;
}

/** The service ends a request after ten seconds. */
const CALL_LIMIT_MS = 15_000;
/** What one request holds: the service takes 4 MiB, of which settings may have 128 KiB. */
const REQUEST_EVENTS_MAX = 100;
const REQUEST_MAX_BYTES = 3_800_000;

interface Waiting {
  event: OutgoingEvent;
  resolve(outcome: SendOutcome): void;
  reject(error: unknown): void;
}

/** The events of one endpoint that are handed over together. */
interface Batch {
  partner_id: string;
  endpoint_id: string;
  version: string;
  destination: Destination;
  span: SpanContext;
  events: Waiting[];
  bytes: number;
}

export type Destinations = ReturnType<typeof createDestinations>;

export function createDestinations(rpc: Pick<Client<DestinationsDefinition>, 'send'>) {
  /** Batches of this turn of the event loop, by receiver and version. */
  const open = new Map<string, Batch>();
  const hand = async (batch: Batch): Promise<void> => {
    const { events, span, bytes: _bytes, ...request } = batch;
    const call = { ...ownCall(span, CALL_LIMIT_MS), route: batch.partner_id };
    try {
      const sent = events.map(({ event }) => event);
      const { outcomes } = await rpc.send({ ...request, events: sent }, call);
      events.forEach((one, at) => one.resolve(outcomes[at] ?? NOT_STORED));
    } catch (error) {
      for (const one of events) one.reject(error);
    }
  };
  const batchFor = (key: string, size: number, create: () => Batch): Batch => {
    const known = open.get(key);
    const has_room =
      known !== undefined &&
      known.events.length < REQUEST_EVENTS_MAX &&
      known.bytes + size <= REQUEST_MAX_BYTES;
    if (has_room) return known;
    const batch = create();
    open.set(key, batch);
    setImmediate(() => {
      if (open.get(key) === batch) open.delete(key);
      void hand(batch);
    });
    return batch;
  };

  return {
    /** Rejects if the service is unreachable: whether the event was sent is unknown. */
    async send(
      attempt: Outgoing,
      destination: Destination,
      format: string,
      span: SpanContext,
    ): Promise<StoredOutcome> {
      const { partner_id, endpoint_id = '' } = attempt;
      // One of a newer release: a replica of that release sends it later.
      if (!isDestinationType(destination.type)) return refusedWith('unknown type of destination');
      const event = outgoingEvent(attempt, format);
      const size = event.body.length;
      if (size > REQUEST_MAX_BYTES) {
        const error = `event too large: ${size} bytes, the limit is ${REQUEST_MAX_BYTES}`;
        return { ...refusedWith(error), is_permanent: true };
      }
      const { version } = factsOf(destination);
      const key = `${receiverKey({ partner_id, endpoint_id })} ${version}`;
      const outcome = await new Promise<SendOutcome>((resolve, reject) => {
        const batch = batchFor(key, size, () => ({
          ...{ partner_id, endpoint_id, version, destination, span },
          events: [],
          bytes: 0,
        }));
        batch.events.push({ event, resolve, reject });
        batch.bytes += size;
      });
      if (outcome.is_stored) return { result: 'delivered', error: null, posted: true };
      return { ...refusedWith(outcome.error), is_permanent: outcome.is_permanent };
    },
  };
}

const NOT_STORED: SendOutcome = { is_stored: false, error: 'failed', is_permanent: false };

const refusedWith = (error: string): StoredOutcome => ({ result: 'refused', error, posted: true });

/** The form in which a destination gets an event. */
export function outgoingEvent(given: Omit<Outgoing, 'endpoint_id'>, format: string): OutgoingEvent {
  const { event_id, event, ordering_key, received_at_ms } = given;
  const { body, headers } = formatted(given, format);
  const content_type = headers['content-type'] ?? '';
  return { event_id, event, ordering_key, body, content_type, received_at_ms };
}

interface Facts {
  address: string;
  version: string;
}

/** The keys are cached answers of the directory. */
const facts = new WeakMap<Destination, Facts>();

/** The address of a destination, and a fingerprint of its settings. */
export function factsOf(destination: Destination): Facts {
  const known = facts.get(destination);
  if (known) return known;
  const { type, settings = {} } = destination;
  const found = {
    address: isDestinationType(type) ? addressOf(type, settings) : '',
    version: createHash('sha256').update(JSON.stringify(settings)).digest('base64'),
  };
  facts.set(destination, found);
  return found;
}
