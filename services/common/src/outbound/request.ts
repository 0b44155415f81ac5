// One HTTP request to a partner-given address and its whole answer, for clients of partners'
// services that bring a protocol of their own.
import type { Dispatcher } from 'undici';
import { checkUrl, UrlRefused, checkHeaders } from './check-url';
import { failureOf, type OutboundFailure } from './failures';
import type { GuardedAgent } from './guarded';
import { ProtocolBroken } from './socket';
import { pooledOrigin } from './post';

export interface GuardedRequestOptions {
  agent: GuardedAgent;
  /** Whose connections are used, as in guardedPost. */
  pool: string;
  method: Dispatcher.HttpMethod;
  headers: Readonly<Record<string, string>>;
  body?: Buffer | string | undefined;
  /** A longer answer is cut off, and the request fails with `protocol`. */
  answer_max_bytes: number;
  /** Ends the request: it must have a time limit. */
  signal: AbortSignal;
}

export interface RequestAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** No complete answer was received: whether the server acted on the request is unknown. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';

  constructor(
    readonly reason: OutboundFailure,
    options?: ErrorOptions,
  ) {
    super(`request failed: ${reason}`, options);
  }
}

/** Resolves with the answer, whatever its status: redirects are not followed. */
export async function guardedRequest(
  url: string,
  { agent, pool, method, headers, body, answer_max_bytes, signal }: GuardedRequestOptions,
): Promise<RequestAnswer> {
  checkHeaders(headers);
  try {
    const checked = checkUrl(url, { field: 'url', allowPrivate: agent.allowPrivate });
    const answer = await agent.dispatcher.request({
      origin: pooledOrigin(checked, pool),
      path: checked.pathname + checked.search,
      method,
      headers: headers as Record<string, string>,
      body: body ?? null,
      signal,
    });
    return {
      status: answer.statusCode,
      headers: flat(answer.headers),
      body: await read(answer.body, answer_max_bytes),
    };
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    if (error instanceof UrlRefused) throw new RequestFailed('url_refused', { cause: error });
    if (signal.aborted) throw new RequestFailed('timeout', { cause: error });
    const reason = failureOf(error);
    if (reason === null) throw error;
    throw new RequestFailed(reason, { cause: error });
  }
}

async function read(body: AsyncIterable<unknown>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    // Leaving the loop destroys the body and its connection.
    if (size > limit) {
      const cause = new ProtocolBroken(`answered with more than ${limit} bytes`);
      throw new RequestFailed('protocol', { cause });
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
