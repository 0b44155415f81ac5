// Packs the texts of many events into one compressed and sealed block. Customers' content is only
// in these blocks; everything beside them is ids, names and times.
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import type { SealedBytes, Vault } from '@bmg/common/vault';

/** A block without a key is compressed only (EVENT_LOG_SEALED is off). */
export type Packed = Pick<SealedBytes, 'data'> & Partial<SealedBytes>;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** Bodies of one batch are alike, so the fastest level already removes most of the bytes. */
const LEVEL = 1;
/**
 * Below this, handing the work to a thread and a stream costs ten times the compression itself. A
 * block of this size takes a tenth of a millisecond.
 */
const SYNC_BYTES_MAX = 16 * 1024;

export type Packer = ReturnType<typeof createPacker>;

/** `vault` also opens blocks that were sealed before sealing was switched off. */
export function createPacker(vault: Vault | undefined, sealed: boolean) {
  return {
    /** `identity` names the document that holds the block. */
    async pack(identity: string, plain: Buffer): Promise<Packed> {
      const options = { level: LEVEL };
      const is_small = plain.length <= SYNC_BYTES_MAX;
      const data = is_small ? deflateRawSync(plain, options) : await deflate(plain, options);
      return sealed && vault ? vault.sealBytes(identity, data) : { data };
    },
    async unpack(identity: string, { key_id, wrapped_key, data }: Packed): Promise<Buffer> {
      if (key_id === undefined || wrapped_key === undefined) return inflate(data);
      if (!vault) throw new Error('EVENT_LOG_KEYRING is not set, and the event log is sealed');
      return inflate(vault.openBytes(identity, { key_id, wrapped_key, data }));
    },
  };
}
