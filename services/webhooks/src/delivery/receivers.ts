// Where a partner's events go and how they are signed: from the directory, under its version.
import { LRUCache } from 'lru-cache';
import { pause } from '@bmg/common/lifecycle';
import { createVersionedCache, partnerVersionKey, type Versions } from '@bmg/common/directory';
import { type Client, ownCall } from '@bmg/common/rpc';
import type { SpanContext } from '@bmg/common/telemetry';
import type { DirectoryDefinition, GetReceiverResponse } from '@bmg/proto/onboarding';

export type Receiver = GetReceiverResponse;

export interface Receivers {
  /** Asks again while the directory is away, for a while; then the event waits for its next turn. */
  of(partner_id: string, span: SpanContext, signal: AbortSignal): Promise<Receiver>;
}

const PARTNERS_MAX = 20_000;
const ASK_LIMIT_MS = 3_000;
const AGAIN_MS = 500;
const ASKS_MAX = 10;
/** A version that was asked for this recently is taken as the present one. */
const VERSION_LIFE_MS = 10;

export function createReceivers(
  directory: Client<DirectoryDefinition>,
  versions: Versions,
): Receivers {
  const cache = createVersionedCache<Receiver>(PARTNERS_MAX);
  const current = new LRUCache<string, { version: Promise<string | undefined>; at: number }>({
    max: PARTNERS_MAX,
  });
  /** One question for all that go to the partner at about the same time. */
  const versionOf = (partner_id: string): Promise<string | undefined> => {
    const known = current.get(partner_id);
    if (known && performance.now() - known.at < VERSION_LIFE_MS) return known.version;
    const version = versions.current([partnerVersionKey(partner_id)]).then((read) => read?.[0]);
    current.set(partner_id, { version, at: performance.now() });
    return version;
  };
  return {
    async of(partner_id, span, signal) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await cache.get(partner_id, await versionOf(partner_id), () => {
            const call = ownCall(span, ASK_LIMIT_MS);
            return directory.getReceiver({ partner_id }, call);
          });
        } catch (error) {
          if ((error as { code?: string }).code === 'NOT_FOUND') {
            return { webhook_url: undefined, webhook_secrets: [], status: 'unknown' };
          }
          if (signal.aborted || attempt === ASKS_MAX) throw error;
          await pause(AGAIN_MS, signal);
        }
      }
    },
  };
}
