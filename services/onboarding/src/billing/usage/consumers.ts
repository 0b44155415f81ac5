// Consumers of usage: the calls that gateways report, and the statuses of messages.
import type { Received } from '@bmg/common/bus';
import { readPricing, readCallbackData, type MessageStatus } from '@bmg/common/messages';
import { dayOf, isDay } from '@bmg/common/time';
import type { Statuses, Statuses_Status, Usage } from '@bmg/proto/stream';
import type { Dependencies } from '../../dependencies';
import type { MessageStatusSeen } from './store/message-usage';

/** The process is part of a field's name in the record. */
const PROCESS = /^\w{1,64}$/;

/** Counts the calls that gateways report. Faulty records are ignored. */
export const countCalls =
  ({ endpointUsage }: Pick<Dependencies, 'endpointUsage'>) =>
  async (batch: Received<Usage>[]): Promise<void> => {
    const readable = batch.map(({ message }) => message).filter(isCountable);
    if (readable.length > 0) await endpointUsage.add(readable);
  };

const isCountable = ({ id, partner_id, day, process, sequence }: Usage): boolean =>
  id !== '' &&
  partner_id !== '' &&
  isDay(day) &&
  (process === undefined || (PROCESS.test(process) && sequence !== undefined && sequence > 0));

/**
 * Counts message statuses for the partner that sent the message only, although several partners may
 * own the number. Messages that were not sent through this service are not counted. Callback data
 * arrives only if its partner owns the number of the status: a status without a number counts for
 * none.
 */
export const countMessages =
  ({ messageUsage, now }: Pick<Dependencies, 'messageUsage' | 'now'>) =>
  async (batch: Received<Statuses>[]): Promise<void> => {
    const statuses = batch.flatMap(({ message }) =>
      message.phone_number_id === undefined ? [] : message.statuses.flatMap(countable),
    );
    if (statuses.length > 0) await messageUsage.count(statuses, now());
  };

function countable(record: Statuses_Status): MessageStatusSeen[] {
  const partner_id = readCallbackData(record.opaque)?.partner_id;
  const { message_id } = record;
  if (partner_id === undefined || message_id === '') return [];
  const day = dayOf(new Date(record.timestamp * 1_000));
  const pricing = {
    category: record.pricing_category,
    billable: record.pricing_billable,
    type: record.pricing_type,
  };
  const status = record.status as MessageStatus;
  return [{ partner_id, message_id, status, day, ...readPricing(pricing, day) }];
}
