// One attempt at a destination: sends the event through its open client and classifies the result.
// Schedule, failed list, log, replay and share are those of attempts at URLs.
import { createHash } from 'node:crypto';
import { addressOf, isDestinationType } from '@bmg/common/destinations';
import type { Component } from '@bmg/common/lifecycle';
import type { Destination } from '@bmg/proto/common';
import { formatted, type Formatted } from './formats';
import { receiverKey } from './receiver-key';
import {
  unsent,
  type DestinationEvent,
  type DestinationGuard,
  type Sent,
} from '../destinations/destination';
import { openDestination } from '../destinations/kinds';
import { createOpenDestinations } from '../destinations/open-destinations';

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

export interface Destinations extends Component {
  /** Never rejects. */
  send(attempt: Outgoing, destination: Destination, format: string): Promise<StoredOutcome>;
}

/** The clients are opened where deliveries need them, and closed when the component stops. */
export function createDestinations(guard: DestinationGuard): Destinations {
  const open = createOpenDestinations();
  return {
    name: 'destinations',
    async start() {},
    stop: () => open.close(),
    async send(attempt, destination, format) {
      const { partner_id, endpoint_id } = attempt;
      const { type, settings = {} } = destination;
      // One of a newer release: a replica of that release sends it later.
      if (!isDestinationType(type)) return outcomeOf(unsent('unknown type of destination'));
      const [sent] = await open.send(
        {
          key: receiverKey({ partner_id, endpoint_id }),
          version: factsOf(destination).version,
          open: () => openDestination(type, settings, guard),
        },
        [destinationEvent(attempt, format)],
        new AbortController().signal,
      );
      return outcomeOf(sent as Sent);
    },
  };
}

/** The form in which a destination gets an event. */
export function destinationEvent(
  given: Omit<Outgoing, 'endpoint_id'>,
  format: string,
): DestinationEvent {
  const { event_id, event, ordering_key, received_at_ms } = given;
  const { body, headers } = formatted(given, format);
  const content_type = headers['content-type'] ?? '';
  return { event_id, event, ordering_key, body, content_type, received_at_ms };
}

function outcomeOf(sent: Sent): StoredOutcome {
  if (sent.ok) return { result: 'delivered', error: null, posted: true };
  return { result: 'refused', error: sent.error, is_permanent: sent.permanent, posted: true };
}

interface Facts {
  address: string;
  version: string;
}

/** By the cached answer of the directory that a destination is from. */
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
