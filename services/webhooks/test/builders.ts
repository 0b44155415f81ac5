import type { Unsettled } from '@bmg/common/bus';
import { Delivery } from '@bmg/proto/stream';
import type { Db } from 'mongodb';
import type { Attempt } from '../src/delivery/attempt';
import type { LaneItem } from '../src/delivery/lane';
import { packBodies } from '../src/event-log/bodies';
import { createPacker } from '../src/event-log/packer';
import { createEventLogStore, newBucket } from '../src/event-log/store/buckets';

/** A message from Kafka whose offset waits. */
export const unsettled = (
  message: Partial<Delivery> = {},
  received: Partial<Unsettled<Delivery>> = {},
): Unsettled<Delivery> => ({
  message: Delivery.fromPartial(message),
  key: '',
  span: undefined,
  partition: 0,
  offset: '0',
  done: () => undefined,
  forget: () => undefined,
  ...received,
});

export const laneItem = (event_id: string, overrides: Partial<LaneItem> = {}): LaneItem => ({
  event_id,
  partner_id: 'p',
  lane: 'p|c',
  partition: 0,
  order: 0,
  arrived_at: 0,
  attempts: 0,
  next_attempt_at: 0,
  ...overrides,
});

export const anAttempt = (overrides: Partial<Attempt> = {}): Attempt => ({
  event_id: 'evt_1',
  partner_id: 'ptn_1',
  event: 'message.received',
  waba_id: '9',
  body: Buffer.from('{}'),
  received_at_ms: 0,
  number: 1,
  span: undefined,
  ...overrides,
});

/** Does not seal. */
export const packer = createPacker(undefined, false);

/** Appends a bucket of equal events to the partner's log, and returns their ids. */
export async function appendBucket(
  db: Db,
  partner_id: string,
  { first = 1, count = 4, event = 'message.received', envelope = '{}' } = {},
): Promise<string[]> {
  const at = new Date();
  const bodies = Array.from({ length: count }, () => Buffer.from(envelope));
  const events = bodies.map(({ length: size }, place) => ({
    seq: first + place,
    event_id: `evt_${partner_id}_${first + place}`,
    event,
    waba_id: '900',
    partition: place,
    received_at: at,
    size,
  }));
  const packed = await packBodies(packer, { partner_id, first }, bodies, {});
  await createEventLogStore(db).insert([newBucket(partner_id, { first, at, events, packed })]);
  return events.map(({ event_id }) => event_id);
}
