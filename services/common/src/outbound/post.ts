// Posts a delivery to a partner's endpoint. The hottest outbound path: one timer and one handler
// object per request, and no more of the answer is read than needed.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { checkUrl, UrlRefused, checkHeaders } from './check-url';
import { failureOf, type OutboundFailure } from './failures';
import type { GuardedAgent } from './guarded';

export interface GuardedPostOptions {
  agent: GuardedAgent;
  /**
   * Whose connections are used: a partner's ID. The agent's limit of connections to one origin
   * counts for each pool, so that partners on one receiver host cannot hold up each other. An
   * unused pool is closed with its last connection.
   */
  pool: string;
  headers: Readonly<Record<string, string>>;
  /** Limits the whole exchange: from waiting for a connection to the end of the answer. */
  timeout_ms: number;
}

export interface PostResult {
  status: number;
  headers: IncomingHttpHeaders;
  /** The beginning of the answer's body, at most ANSWER_KEPT_BYTES. */
  answer: Buffer;
}

/**
 * The receiver returned no status. Whether it processed the request is unknown, except for
 * `refused`, `dns`, `tls` and `url_refused`, where the request was never sent.
 */
export class PostFailed extends Error {
  override readonly name = 'PostFailed';

  constructor(
    readonly reason: OutboundFailure,
    options?: ErrorOptions,
  ) {
    super(`post failed: ${reason}`, options);
  }
}

// Enough for the short answers of well-behaved receivers, whose connections can then be used again.
const RESPONSE_READ_MAX_BYTES = 4_096;
const ANSWER_KEPT_BYTES = 1_024;
const NOTHING = Buffer.alloc(0);

const FIRST_FINAL_STATUS = 200;

/**
 * Posts the bytes and resolves with the status, whatever it is: redirects are not followed. Once
 * the status is known it counts, even if the answer's body is too long or trickles on; such a body
 * is cut off. Rejects with PostFailed, and with TypeError for headers that must not be sent.
 */
export function guardedPost(
  url: string,
  body: Buffer,
  { agent, pool, headers, timeout_ms }: GuardedPostOptions,
): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    let checked: URL;
    try {
      checkHeaders(headers);
      checked = checkUrl(url, { field: 'url', allowPrivate: agent.allowPrivate });
    } catch (error) {
      return reject(
        error instanceof UrlRefused
          ? new PostFailed('url_refused', { cause: error })
          : (error as TypeError),
      );
    }
    const attempt = new PostAttempt(timeout_ms, resolve, reject);
    agent.dispatcher.dispatch(
      {
        origin: pooledOrigin(checked, pool),
        path: checked.pathname + checked.search,
        method: 'POST',
        headers: headers as Record<string, string>,
        body,
      },
      attempt,
    );
  });
}

// undici pools connections by the text of the origin and connects to its host and port: the user
// part, which checkUrl refuses in a partner's URL, names the pool. It is never sent.
export function pooledOrigin({ protocol, host }: URL, pool: string): string {
  return `${protocol}//${encodeURIComponent(pool)}@${host}`;
}

class PostAttempt implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | null = null;
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  private read_bytes = 0;
  private answer = NOTHING;
  private settled = false;
  private readonly timer: NodeJS.Timeout;

  constructor(
    timeout_ms: number,
    private readonly resolve: (result: PostResult) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.timer = setTimeout(() => this.onTimeLimit(), timeout_ms);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown, not aborted: it takes the request out of the queue before anything of it is written,
    // and leaves the connection to the next one.
    if (this.settled) throw new Error('timed out before a connection was free');
    this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < FIRST_FINAL_STATUS) return;
    this.status = status;
    this.headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = ANSWER_KEPT_BYTES - this.read_bytes;
    this.read_bytes += chunk.length;
    if (room > 0) this.answer = Buffer.concat([this.answer, chunk.subarray(0, room)]);
    if (this.read_bytes <= RESPONSE_READ_MAX_BYTES) return;
    this.succeed();
    controller.abort(CUT);
  }

  onResponseEnd(): void {
    this.succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.status >= FIRST_FINAL_STATUS) this.succeed();
    else {
      const reason = failureOf(error);
      this.fail(reason === null ? error : new PostFailed(reason, { cause: error }));
    }
  }

  private onTimeLimit(): void {
    if (this.status >= FIRST_FINAL_STATUS) this.succeed();
    else this.fail(new PostFailed('timeout'));
    this.controller?.abort(CUT);
  }

  private succeed(): void {
    if (!this.settle()) return;
    const { status, headers, answer } = this;
    this.resolve({ status, headers, answer });
  }

  private fail(error: Error): void {
    if (this.settle()) this.reject(error);
  }

  private settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    clearTimeout(this.timer);
    return true;
  }
}

// Never visible: the attempt is settled before it is cut. One shared object saves a stack trace
// each.
const CUT = new Error('cut');
