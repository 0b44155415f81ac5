// The request id of one contact's send. The upstream echoes it with every status of the message,
// and nothing else identifies the contact. The salt separates broadcasts with the same id, which a
// recreated database would assign again.
import { randomBytes } from 'node:crypto';
import { readCallbackData } from '@bmg/common/messages';
import type { Broadcast } from './types';

const SALT_BYTES = 6;
const REQUEST = /^bc_(\d{1,15})_(\d{1,6})_(\d{1,6})_([0-9a-f]{12})$/;

export const newSalt = (): string => randomBytes(SALT_BYTES).toString('hex');

export const chunkId = (broadcast_id: number, chunk: number): string => `${broadcast_id}/${chunk}`;

export const chunkNumber = (chunk_id: string): number =>
  Number(chunk_id.slice(chunk_id.indexOf('/') + 1));

/** The ids of all chunks of a broadcast, without a read of the store. */
export const chunkIds = ({ _id, chunk_count }: { _id: number; chunk_count: number }): string[] =>
  Array.from({ length: chunk_count }, (_, chunk) => chunkId(_id, chunk));

interface ContactRef {
  chunk_id: string;
  index: number;
  salt: string;
}

export const requestId = ({ chunk_id, index, salt }: ContactRef): string =>
  `bc_${chunk_id.replace('/', '_')}_${index}_${salt}`;

/** The request ids of all contacts of a broadcast begin with it, and no others. */
export const requestIdPrefix = (broadcast_id: number): string => `bc_${broadcast_id}_`;

/** The contact that a status event is about; undefined when the message is not of a broadcast. */
export const readOpaque = (opaque: string | undefined): ContactRef | undefined =>
  readRequestId(readCallbackData(opaque)?.request_id ?? '');

export function readRequestId(request_id: string): ContactRef | undefined {
  const match = REQUEST.exec(request_id);
  if (!match) return undefined;
  return {
    chunk_id: `${match[1] as string}/${match[2] as string}`,
    index: Number(match[3]),
    salt: match[4] as string,
  };
}

/** The number under which the partner knows the broadcast. */
export const numberOf = ({ _id, public_id }: BroadcastIds): number =>
  public_id === undefined ? _id : Number(public_id.slice(public_id.lastIndexOf('/') + 1));

export const publicId = (partner_id: string, number: number): string => `${partner_id}/${number}`;

export type BroadcastIds = Pick<Broadcast, '_id' | 'public_id'>;
