// Rotates the key ring: the operator puts the new key first, restarts, and rewraps every record
// with it; then the old key can be removed. The service keeps working meanwhile, because every key
// of the ring opens records.
import type { Logger } from '@bmg/common/telemetry';
import type { SealedRecord } from './store';
import type { Sealed, Vault } from '@bmg/common/vault';
import type { Dependencies } from '../dependencies';

interface Rotation {
  key_id: string;
  rewrapped: number;
  unreadable: number;
  /** Cursor for the next batch; undefined after the last one. */
  next: string | undefined;
}

const BATCH_DEFAULT = 500;
const BATCH_MAX = 2_000;

/** Rewraps one batch, starting after the cursor `after`. Safe to repeat and to run concurrently. */
export async function rotateKeyring(
  { sealedRecords, vault, log }: Dependencies,
  { after, limit }: { after?: string | undefined; limit?: number },
): Promise<Rotation> {
  const batch = Math.min(limit || BATCH_DEFAULT, BATCH_MAX);
  const { records, next } = await sealedRecords.stale(vault.key_id, { after, limit: batch });
  let rewrapped = 0;
  let unreadable = 0;
  for (const record of records) {
    const sealed = rewrap(vault, record, log);
    if (!sealed) unreadable += 1;
    else if (await sealedRecords.replace(record, sealed)) rewrapped += 1;
  }
  return { key_id: vault.key_id, rewrapped, unreadable, next };
}

function rewrap(vault: Vault, { identity, sealed }: SealedRecord, log: Logger): Sealed | undefined {
  try {
    return vault.rewrap(identity, sealed);
  } catch (error) {
    log.error({ err: error, record: identity }, 'failed to open sealed record');
    return undefined;
  }
}
