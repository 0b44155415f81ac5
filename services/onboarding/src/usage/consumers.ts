// Consumers of the usage topics: calls that gateways report, and message statuses from events.
import type { Received } from '@bmg/common/bus';
import { readCallbackData, statusOfEvent } from '@bmg/common/messages';
import type { Event, Usage } from '@bmg/proto/stream';
import type { EndpointUsage } from '../store/endpoint-usage';
import type { MessageStatusSeen, MessageUsage } from '../store/message-usage';
import { readPricing } from './message-counts';
import { dayOf } from './period';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Counts the calls that gateways report. Records without ID, partner or day are ignored. */
export const countCalls =
  ({ endpointUsage }: { endpointUsage: EndpointUsage }) =>
  async (batch: Received<Usage>[]): Promise<void> => {
    const readable = batch.map(({ message }) => message).filter(isCountable);
    if (readable.length > 0) await endpointUsage.add(readable);
  };

const isCountable = ({ id, partner_id, day }: Usage): boolean =>
  id !== '' && partner_id !== '' && DAY.test(day);

/**
 * Counts message statuses for the partner that sent the message only, although several partners may
 * own the number. Messages that were not sent through this service are not counted.
 */
export const countMessages =
  ({ messageUsage, now }: { messageUsage: MessageUsage; now: () => Date }) =>
  async (batch: Received<Event>[]): Promise<void> => {
    const statuses = batch.flatMap(({ message }) => statusOf(message));
    if (statuses.length > 0) await messageUsage.count(statuses, now());
  };

function statusOf({ event, internal, opaque, data, timestamp }: Event): MessageStatusSeen[] {
  const status = statusOfEvent(event);
  const partner_id = readCallbackData(opaque)?.partner_id;
  if (internal || !status || partner_id === undefined) return [];
  const { message_id, pricing } = readData(data);
  if (typeof message_id !== 'string') return [];
  const day = dayOf(new Date(timestamp * 1_000));
  return [{ partner_id, message_id, status, day, ...readPricing(pricing, day) }];
}

function readData(data: string): { message_id?: unknown; pricing?: unknown } {
  try {
    return (JSON.parse(data) ?? {}) as { message_id?: unknown; pricing?: unknown };
  } catch {
    return {};
  }
}
