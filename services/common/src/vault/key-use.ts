// Counts the data keys that a key of the older form `id:base64` has wrapped, over all replicas and restarts.
// With random nonces such a key is safe for 2^32 of them: operators are warned long before. Nothing is
// refused at the limit, because an event log that stops is worse than a rotation that is late.
import type { Db } from 'mongodb';
import { createPoller, type Component } from '../lifecycle';
import { metrics, type Logger } from '../telemetry';
import type { Vault } from './vault';

/** `_id` is the setting of the key ring and the ID of the key. */
interface KeyUse {
  _id: string;
  data_keys: number;
}

export const KEY_USES = 'key_uses';
/** A quarter of the limit: an earlier release has wrapped some without counting them. */
export const WARN_ABOVE = 2 ** 30;
/** A killed process loses the counts of at most this time. */
const STORE_EVERY_MS = 60_000;

interface KeyUseDependencies {
  db: Db;
  /** The setting that holds the key ring. */
  ring: string;
  vault: Vault;
  log: Logger;
}

/** A component that stores and publishes the count; without effect if the newest key derives keys. */
export function createKeyUse({ db, ring, vault, log }: KeyUseDependencies): Component {
  const { key_id } = vault;
  let added = 0;
  let has_warned = false;
  const store = async (): Promise<void> => {
    if (!vault.is_counted) return;
    const wrapped = vault.wrapped();
    const after = await db
      .collection<KeyUse>(KEY_USES)
      .findOneAndUpdate(
        { _id: `${ring}/${key_id}` },
        { $inc: { data_keys: wrapped - added } },
        { upsert: true, returnDocument: 'after' },
      );
    added = wrapped;
    const data_keys = after?.data_keys ?? 0;
    metrics.wrapped_data_keys.set({ ring, key_id }, data_keys);
    if (data_keys <= WARN_ABOVE || has_warned) return;
    has_warned = true;
    log.warn({ ring, key_id, data_keys }, 'rotate the key ring to a key id:hkdf:base64');
  };
  const poller = createPoller('key-use', STORE_EVERY_MS, store, log);
  return {
    ...poller,
    async stop() {
      await poller.stop();
      await store().catch((err: unknown) => log.warn({ err }, 'failed to store the use of a key'));
    },
  };
}
