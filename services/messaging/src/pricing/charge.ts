// The charge of a message, from its statuses. A message is charged once, on delivery; the pricing
// of the highest status counts, so that the order of arrival changes nothing. Pure.
import { readPricing, statusRank, type MessageStatus } from '@bmg/common/messages';
import { dayOf } from '@bmg/common/time';
import type { Statuses_Status } from '@bmg/proto/stream';
import { marketOf } from './markets';

/** The pricing of a status, as kept on the message record. */
interface MessagePricing {
  category?: string;
  billable?: boolean;
  /** `regular`, `free_customer_service`, `free_entry_point`. */
  type?: string;
  model?: string;
  market?: string;
  /** Rank of the status that reported the charge: a higher rank wins. */
  rank?: number;
}

/** The part of a message record that decides its charge. */
export interface ChargeFacts {
  pricing?: MessagePricing | undefined;
  /** Delivered or, without a delivery, read. */
  arrived?: boolean | undefined;
}

type PricedStatus = Omit<Statuses_Status, 'message_id' | 'received_at_ms' | 'reconciled'>;

/** The facts in a status; empty if it neither prices the message nor delivers it. */
export function factsOf(reported: PricedStatus): ChargeFacts {
  const { recipient = '', timestamp, pricing_type: type, pricing_model: model } = reported;
  const status = reported.status as MessageStatus;
  const { category, billable } = readPricing(
    { category: reported.pricing_category, billable: reported.pricing_billable, type },
    dayOf(new Date(timestamp * 1_000)),
  );
  const priced = category !== null || billable !== null || type !== undefined;
  return {
    ...(priced && {
      pricing: {
        ...(category !== null && { category }),
        ...(billable !== null && { billable }),
        ...(type !== undefined && { type }),
        ...(model !== undefined && { model }),
        market: marketOf(recipient),
        rank: statusRank(status),
      },
    }),
    ...((status === 'delivered' || status === 'read') && { arrived: true }),
  };
}

export const saysAnything = ({ pricing, arrived }: ChargeFacts): boolean =>
  pricing !== undefined || arrived === true;

export const mergeFacts = (one: ChargeFacts, other: ChargeFacts): ChargeFacts => ({
  pricing: rankOf(other) > rankOf(one) ? other.pricing : one.pricing,
  arrived: one.arrived === true || other.arrived === true,
});

const rankOf = ({ pricing }: ChargeFacts): number => (pricing ? (pricing.rank ?? 0) : -1);

/** Null while it is not known. */
export const isCharged = ({ pricing, arrived }: ChargeFacts): boolean | null =>
  arrived ? (pricing?.billable ?? null) : false;
