// The usage record: what gateways have counted of calls, what status events tell of messages, and the bill
// that follows from the accounts that were active.
import type { Received } from '@bmg/common/bus';
import { readCallbackData, statusOfEvent } from '@bmg/common/messages';
import type { Handlers } from '@bmg/common/rpc';
import type { OnboardingDefinition } from '@bmg/proto/onboarding';
import type { Event, Usage } from '@bmg/proto/stream';
import { COUNTED_FIELDS, readPricing } from './message-counts';
import { billOf, monthOf } from '../payments/slots';
import type { EndpointUsage } from '../store/endpoint-usage';
import type { CategoryCounts, MessageStatusSeen, MessageUsage } from '../store/message-usage';
import { activeWabas, type Partners } from '../store/partners';
import { dayOf, usagePeriod } from './period';

export interface UsageDependencies {
  partners: Partners;
  endpointUsage: EndpointUsage;
  messageUsage: MessageUsage;
  now: () => Date;
}

const CENTS_PER_DOLLAR = 100;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export const applyUsage =
  ({ endpointUsage }: Pick<UsageDependencies, 'endpointUsage'>) =>
  async (batch: Received<Usage>[]): Promise<void> => {
    const readable = batch.map(({ message }) => message).filter(isCountable);
    if (readable.length > 0) await endpointUsage.add(readable);
  };

const isCountable = ({ id, partner_id, day }: Usage): boolean =>
  id !== '' && partner_id !== '' && DAY.test(day);

/**
 * Counts for the partner that sent the message, and for nobody else: a number may belong to several
 * partners, but a message is one partner's. What was sent past this service is nobody's here.
 */
export const applyMessageStatuses =
  ({ messageUsage, now }: Pick<UsageDependencies, 'messageUsage' | 'now'>) =>
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

export const usageHandlers = ({
  partners,
  endpointUsage,
  messageUsage,
  now,
}: UsageDependencies): Pick<Handlers<OnboardingDefinition>, 'getUsage'> => ({
  async getUsage({ partner_id, from, to }) {
    const period = usagePeriod({ from, to }, now());
    const [partner, endpoints, messages] = await Promise.all([
      partners.find(partner_id),
      endpointUsage.sum(partner_id, period),
      messageUsage.sum(partner_id, period),
    ]);
    // Billing goes by calendar months: the one in which the period ends.
    const { slots, peak_active_wabas, fee_cents } = billOf(
      partner?.months ?? {},
      monthOf(period.to),
    );
    return {
      from: period.from,
      to: period.to,
      endpoints,
      messages: Object.entries(messages)
        // A category that everything has moved out of says nothing.
        .filter(([, counts]) => Object.values(counts).some((count) => count !== 0))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([category, counts]) => ({ category, ...filled(counts) })),
      billing: {
        slots,
        peak_active_wabas,
        active_wabas: partner ? activeWabas(partner).length : 0,
        fee_usd: fee_cents / CENTS_PER_DOLLAR,
      },
    };
  },
});

const filled = (counts: CategoryCounts) =>
  Object.fromEntries(COUNTED_FIELDS.map((field) => [field, counts[field] ?? 0])) as Required<
    typeof counts
  >;
