// Fetches a partner's file from its URL to the disk, within limits. Every failure becomes an error
// that the partner can act on.
import type { Readable } from 'node:stream';
import { ApiError, invalidField } from '../errors';
import { anySignal } from '../lifecycle';
import {
  FETCH_TIMEOUT_MS,
  FetchFailed,
  guardedAgent,
  guardedFetch,
  UrlRefused,
  type FetchFailure,
  type GuardedAgentOptions,
} from '../outbound';
import { HOP_MS, type Call } from '../rpc';
import { checkContents } from './file-types';
import { spoolLimitBytes, createSpool, type SpooledFile } from './spool';
import type { OpenFile } from './transfer';

export interface FileFetcherSettings {
  ALLOW_PRIVATE_URLS: boolean;
  SPOOL_LIMIT_MB: number;
}

export interface FetchWish {
  url: string;
  /** The request field that held the URL, for the refusal. */
  field: string;
  limit_bytes: number;
  /** The type that its first bytes must not contradict. */
  mime_type: string;
  /** The files of each partner have a share of the disk space. */
  partner_id: string;
}

export type FileFetcher = ReturnType<typeof createFileFetcher>;

/** The caller's time that is left, in ms, without that of the way back. */
const timeLeft = ({ deadline }: Call): number => Math.max(0, deadline - HOP_MS - Date.now());

/** The connection options and the time limits are for tests. */
export function createFileFetcher(
  settings: FileFetcherSettings,
  options: Partial<GuardedAgentOptions> & { timeout_ms?: number; rate_interval_ms?: number } = {},
) {
  const { timeout_ms = FETCH_TIMEOUT_MS, rate_interval_ms, ...connection } = options;
  const agent = guardedAgent({ allowPrivate: settings.ALLOW_PRIVATE_URLS, ...connection });
  const withLimits = (
    { field, limit_bytes }: Pick<FetchWish, 'field' | 'limit_bytes'>,
    call: Call,
  ) => ({
    agent,
    field,
    max_bytes: limit_bytes,
    timeout_ms: Math.min(timeout_ms, timeLeft(call)),
    rate_interval_ms,
    signal: call.signal,
  });
  const spool = createSpool(spoolLimitBytes(settings));
  return {
    name: 'file-fetcher',
    start: async (): Promise<void> => {},
    stop: () => agent.close(),
    /** Type and size as the file's server reports them, without fetching the file. */
    async look(wish: Omit<FetchWish, 'mime_type' | 'partner_id'>, call: Call) {
      try {
        const { headers, body } = await guardedFetch(wish.url, {
          ...withLimits(wish, call),
          method: 'HEAD',
        });
        body.destroy();
        const size = headers['content-length'];
        return {
          mime_type: headers['content-type'],
          size_bytes: size === undefined ? undefined : Number(size),
        };
      } catch (error) {
        throw explain(error, wish.field);
      }
    },
    /** A file of the upstream on a host that gets no token; fails with UPSTREAM_ERROR. */
    async open(url: string, call: Call): Promise<OpenFile> {
      const limits = { timeout_ms: timeLeft(call), signal: call.signal };
      try {
        return await guardedFetch(url, { agent, field: 'url', ...limits });
      } catch (cause) {
        const message = 'the file to which the upstream redirects could not be read';
        throw new ApiError('UPSTREAM_ERROR', message, { retryable: true, cause });
      }
    },
    /** The complete file. The caller closes it. */
    async fetch(wish: FetchWish, call: Call): Promise<SpooledFile> {
      const { url, field, mime_type, partner_id } = wish;
      try {
        const open = async (evicted: AbortSignal): Promise<Readable> => {
          const signal = anySignal(evicted, call.signal);
          return (await guardedFetch(url, withLimits(wish, { ...call, signal }))).body;
        };
        const file = await spool.take(open, partner_id);
        return await checked(file, mime_type, field);
      } catch (error) {
        throw explain(error, field);
      }
    },
  };
}

/** Closes a file that is empty, or plainly of another type, and throws INVALID_FIELD. */
async function checked(file: SpooledFile, mime_type: string, field: string): Promise<SpooledFile> {
  try {
    if (file.size_bytes === 0) {
      throw invalidField(field, 'leads to a file that is empty', { reason: 'empty' });
    }
    checkContents(file.head, mime_type, field);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

// The reasons complete the sentence "<field> could not be fetched: ...", which partners read.
const REASONS: Record<Exclude<FetchFailure, 'too_large'>, string> = {
  timeout: 'it did not arrive within the time limit',
  refused: 'its server could not be reached',
  reset: 'its server broke the connection before the file was complete',
  dns: 'its host name could not be resolved',
  tls_expired: 'the TLS certificate of its server is not valid today',
  tls_untrusted: 'no known authority has signed the TLS certificate of its server',
  tls_wrong_name: 'the TLS certificate of its server is of another name',
  tls_missing: 'its server does not speak TLS',
  tls: 'no TLS connection to its server can be made',
  protocol: 'its server sent an invalid HTTP response',
  aborted: 'the request was cancelled',
  http_status: 'its server answered with an error',
  too_many_redirects: 'it redirects too often',
  content_encoding: 'its server sends it compressed: serve it uncompressed',
};

function explain(error: unknown, field: string): unknown {
  if (error instanceof UrlRefused) {
    return new ApiError('INVALID_FIELD', error.message, {
      details: { field, reason: error.reason },
      cause: error.cause,
    });
  }
  if (!(error instanceof FetchFailed)) return error;
  const { reason, retryable, http_status } = error;
  if (reason === 'too_large') return tooLarge(error.size_bytes ?? 0, error.limit_bytes ?? 0);
  return new ApiError('INVALID_FIELD', `${field} could not be fetched: ${REASONS[reason]}`, {
    details: { field, reason, ...(http_status !== undefined && { http_status }) },
    retryable,
    cause: error,
  });
}

/** Contract 7.3: the error carries `size_bytes` (the bytes read so far) and `limit_bytes`. */
export const tooLarge = (size_bytes: number, limit_bytes: number): ApiError =>
  new ApiError('MEDIA_TOO_LARGE', `the file is larger than ${limit_bytes} bytes`, {
    details: { size_bytes, limit_bytes },
  });
