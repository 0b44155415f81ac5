// The receivers of partners (webhook URL, secrets, status): answers of the directory, cached until
// the directory version of the partner changes.
import { createHash } from 'node:crypto';
import { LRUCache } from '@bmg/common/cache';
import { pause } from '@bmg/common/lifecycle';
import {
  VersionedCache,
  loadOne,
  noSuchPartner,
  partnerVersionKey,
  type Load,
  type Versions,
} from '@bmg/common/directory';
import { type Client, ownCall } from '@bmg/common/rpc';
import type { SpanContext } from '@bmg/common/telemetry';
import { type DirectoryDefinition, GetReceiverResponse } from '@bmg/proto/onboarding';

export type Receiver = GetReceiverResponse;

const PARTNERS_MAX = 20_000;
const CALL_TIMEOUT_MS = 3_000;
const RETRY_MS = 500;
const CALLS_MAX = 10;
/** How long a version that was read counts as current. */
export const VERSION_TTL_MS = 10;
const NO_SPAN: SpanContext = { traceId: '', spanId: '', traceFlags: 0 };

interface CurrentVersion {
  version: Promise<string | undefined>;
  /** Monotonic clock. */
  at: number;
  /** The version, once it was read. */
  read: string | undefined;
}

export type Receivers = ReturnType<typeof createReceivers>;

export function createReceivers(directory: Client<DirectoryDefinition>, versions: Versions) {
  const load: Load<string, Receiver> = async (partner_ids, call) => {
    const { receivers } = await directory.getReceivers({ partner_ids }, call);
    return partner_ids.map((partner_id) => receivers[partner_id] ?? noSuchPartner());
  };
  const cache = new VersionedCache(PARTNERS_MAX, load);
  const current = new LRUCache<string, CurrentVersion>({ max: PARTNERS_MAX });
  /** Attempts for the same partner that start together share one read. */
  const versionOf = (partner_id: string): Promise<string | undefined> => {
    const known = current.get(partner_id);
    if (known && performance.now() - known.at < VERSION_TTL_MS) return known.version;
    const version = versions.current([partnerVersionKey(partner_id)]).then((read) => read?.[0]);
    const entry: CurrentVersion = { version, at: performance.now(), read: undefined };
    current.set(partner_id, entry);
    version.then((read) => (entry.read = read)).catch(() => undefined);
    return version;
  };
  return {
    /** Returns the receiver at once if it is known to be current; call `lookAhead` before. */
    peek(partner_id: string): Receiver | undefined {
      const read = current.get(partner_id)?.read;
      const is_current = read !== undefined && cache.versionOf(partner_id) === read;
      return is_current ? cache.peek(partner_id) : undefined;
    },
    /** Call before an attempt: reads whether the partner's receiver has changed, for `of`. */
    lookAhead: (partner_id: string): void => void versionOf(partner_id),
    /**
     * The partner's receiver; status `unknown` for a partner that does not exist. Retries while the
     * directory is unreachable, and rejects after CALLS_MAX calls.
     */
    async of(
      partner_id: string,
      span: SpanContext | undefined,
      signal: AbortSignal | undefined,
    ): Promise<Receiver> {
      for (let calls = 1; ; calls += 1) {
        try {
          const fetch = (): Promise<Receiver> =>
            loadOne(load, partner_id, ownCall(span ?? NO_SPAN, CALL_TIMEOUT_MS));
          return await cache.get(partner_id, await versionOf(partner_id), fetch, partner_id);
        } catch (error) {
          if ((error as { code?: string }).code === 'NOT_FOUND') {
            return GetReceiverResponse.fromPartial({ status: 'unknown' });
          }
          if (signal?.aborted || calls === CALLS_MAX) throw error;
          await pause(RETRY_MS, signal);
        }
      }
    },
  };
}

const FINGERPRINT_LENGTH = 8;
const described = new WeakMap<object, { url: string; secret: string }>();

/** The address of a receiver, and its secrets: a partner's webhook URL, or an endpoint. */
export interface Address {
  url: string;
  secrets: readonly string[];
}

/**
 * The public facts of an address, cached by `of`: the address without user, password and query, and
 * a fingerprint of the secret that signs (the beginning of its SHA-256).
 */
export function describeAddress(
  of: object,
  { url, secrets }: Address,
): { url: string; secret: string } {
  const known = described.get(of);
  if (known) return known;
  const [newest = ''] = secrets;
  const hash = createHash('sha256').update(newest).digest('hex');
  const shown = { url: maskUrl(url), secret: hash.slice(0, FINGERPRINT_LENGTH) };
  described.set(of, shown);
  return shown;
}

/** The address without user, password and query. */
export function maskUrl(text: string): string {
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}${url.pathname}${url.search && '?***'}` : '';
}
