// Records and targets for tests, with overrides.
import type { MessageStatus } from '@bmg/common/messages';
import type { Target } from '@bmg/proto/common';
import type { MessageRecord } from '../src/messages';
import type { StatusUpdate } from '../src/messages/status-writes';
import { createPriceFinder, readRateCard, type RateCard } from '../src/pricing/rate-card';

/** The ids of the emulator's first account. */
export const SCOPE = {
  partner_id: 'ptn_1',
  waba_id: '900000000000001',
  phone_number_id: '800000000000001',
};
export const TARGET: Target = { ...SCOPE, directory_version: '' };

/** A text that was sent at `sent_at`; its ids follow from the request id. */
export const aRecord = (
  sent_at: Date,
  { _id = 'msg_1', ...over }: Partial<MessageRecord> = {},
): MessageRecord => ({
  _id,
  ...SCOPE,
  message_id: `wamid.${_id}`,
  kind: 'text',
  recipient: '15550100777',
  status: 'accepted',
  sent_at,
  updated_at: sent_at,
  ...over,
});

/** A status of the record's message. */
export const aStatus = (
  { phone_number_id, message_id, sent_at }: MessageRecord,
  status: MessageStatus,
  over: Partial<StatusUpdate> = {},
): StatusUpdate => ({
  phone_number_id,
  message_id,
  status,
  at: sent_at,
  received_at: sent_at,
  reconciled: false,
  ...over,
});

/** Rates are `market,category,tier,valid_from,price`, in USD. */
export const aRateCard = (...rates: string[]): RateCard => {
  const lines = rates.map((rate) => `USD,${rate}`);
  const card = readRateCard(
    ['currency,market,category,tier,valid_from,price', ...lines].join('\n'),
  );
  if (Array.isArray(card)) throw new Error(`the rate card is wrong: ${JSON.stringify(card)}`);
  return card;
};

export const pricesOf = (...rates: string[]) => createPriceFinder(aRateCard(...rates));
