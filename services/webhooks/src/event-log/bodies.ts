// The block of a bucket: the envelopes of its events one after the other, byte by byte as they are
// posted, and behind them the receivers' answers as JSON, by event id.
import type { Packed, Packer } from './packer';
import { bucketIdentity, type Bucket, type LoggedEvent } from './store/buckets';

/** Keyed by event id: the answer of each attempt in order; null if there was none. */
export type Answers = Record<string, Array<string | null>>;

export function packBodies(
  packer: Packer,
  place: { partner_id: string; first: number },
  bodies: Uint8Array[],
  answers: Answers,
): Promise<Packed> {
  const plain = Buffer.concat([...bodies, Buffer.from(JSON.stringify(answers), 'utf8')]);
  return packer.pack(bucketIdentity(place.partner_id, place.first), plain);
}

export interface Bodies {
  /** Keyed by event ID; deleted events have none. */
  envelopes: Map<string, Buffer>;
  answers: Answers;
}

export async function unpackBodies(packer: Packer, bucket: Bucket): Promise<Bodies> {
  const { partner_id, first, events, packed } = bucket;
  const plain = await packer.unpack(bucketIdentity(partner_id, first), packed);
  const envelopes = new Map<string, Buffer>();
  let at = 0;
  for (const { event_id, size } of events) {
    if (size > 0) envelopes.set(event_id, plain.subarray(at, at + size));
    at += size;
  }
  return { envelopes, answers: JSON.parse(plain.toString('utf8', at)) as Answers };
}

/** The bucket without the content of one account's events: only their positions and ids stay. */
export async function withoutAccount(
  packer: Packer,
  bucket: Bucket,
  waba_id: string,
): Promise<Bucket> {
  const { envelopes, answers } = await unpackBodies(packer, bucket);
  const kept = new Set(
    bucket.events.filter((one) => one.waba_id !== waba_id).map(({ event_id }) => event_id),
  );
  const bodies = [...envelopes].filter(([id]) => kept.has(id)).map(([, body]) => body);
  const keptAnswers = Object.fromEntries(Object.entries(answers).filter(([id]) => kept.has(id)));
  return {
    ...bucket,
    events: bucket.events.map((one) => (kept.has(one.event_id) ? one : emptied(one))),
    packed: await packBodies(packer, bucket, bodies, keptAnswers),
  };
}

const emptied = ({ seq, event_id, partition, received_at }: LoggedEvent): LoggedEvent => ({
  ...{ seq, event_id, partition, received_at },
  ...{ event: '', waba_id: '', size: 0 },
});
