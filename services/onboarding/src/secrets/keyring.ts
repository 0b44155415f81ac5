// Rotation of the key ring: put the new key first, restart, then have every record wrapped with it; once
// nothing is left, the old key may go. Work goes on meanwhile, since every key of the ring opens records.
import type { Logger } from '@bmg/common/telemetry';
import type { SealedRecord, SealedRecords } from '../store/sealed-records';
import type { Sealed, Vault } from './vault';

export interface KeyringDependencies {
  sealedRecords: SealedRecords;
  vault: Vault;
  log: Logger;
}

export interface Rotation {
  key_id: string;
  rewrapped: number;
  unreadable: number;
  /** Where to go on; undefined when all records have been seen. */
  next: string | undefined;
}

const BATCH_DEFAULT = 500;
const BATCH_MAX = 2_000;

/** One bounded batch, after the record that `after` names. Safe to repeat and to run twice at once. */
export async function rotateKeyring(
  { sealedRecords, vault, log }: KeyringDependencies,
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
    log.error({ err: error, record: identity }, 'a sealed record does not open');
    return undefined;
  }
}
