// Delivers webhook bodies to the receiver: signs and posts them, retries with growing delays, and
// counts a webhook as lost when its last attempt is refused.
import { Agent, request } from 'undici';
import type { BehaviourHolder } from './behaviour';
import type { EmulatorConfig } from './config';
import { signatureHeaders } from './signature';
import { Timers } from './timers';

const CONNECTIONS_MAX = 32;
const IN_FLIGHT_MAX = 1000;
const RETRY_BYTES_MAX = 256 * 1024 * 1024;
/** For the receiver's answer. */
const TIMEOUT_MS = 10_000;

export interface PostResult {
  http_status: number | null;
  error?: string;
}

interface PendingRetry {
  body: string;
  attempt: number;
  items: number;
}

export class Poster {
  readonly counts = newCounts();
  in_flight = 0;
  private readonly agent = new Agent({ connections: CONNECTIONS_MAX, keepAliveTimeout: 30_000 });
  private readonly timers = new Timers();
  private retry_bytes = 0;
  private closed = false;
  /** Changes with every reset, so that earlier work cannot leak into the new world. */
  private epoch = 0;

  constructor(
    private readonly config: EmulatorConfig,
    private readonly behaviour: BehaviourHolder,
  ) {}

  get retries_waiting(): number {
    return this.timers.size;
  }

  /** Signs and posts the text unchanged, once. */
  async post(body: string): Promise<PostResult> {
    const { epoch } = this;
    this.counts.posted += 1;
    this.in_flight += 1;
    const result = await this.exchange(body);
    this.in_flight -= 1;
    if (epoch !== this.epoch) return result;
    if (result.http_status === 200) this.counts.acknowledged += 1;
    else this.counts.failed += 1;
    return result;
  }

  private async exchange(body: string): Promise<PostResult> {
    try {
      const response = await request(this.config.webhook_url, {
        method: 'POST',
        dispatcher: this.agent,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'upstream-webhooks/1.0',
          ...signatureHeaders(body, this.config.app_secret),
        },
        body,
      });
      await response.body.dump();
      return { http_status: response.statusCode };
    } catch (error) {
      return { http_status: null, error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Posts a webhook and its duplicates; a refused one is retried in the background. */
  async deliver(body: string, items: number, retry = true): Promise<PostResult> {
    const { epoch } = this;
    if (this.in_flight >= IN_FLIGHT_MAX) {
      this.retryLater({ body, attempt: 1, items });
      return { http_status: null, error: 'too many webhooks in flight' };
    }
    const result = await this.post(body);
    if (epoch !== this.epoch) return result;
    if (result.http_status === 200) this.counts.items_acknowledged += items;
    else if (retry) this.retryLater({ body, attempt: 1, items });
    for (let i = 0; i < this.behaviour.current.duplicate; i += 1) {
      await this.post(body);
      this.counts.duplicates += 1;
    }
    return result;
  }

  /**
   * The verification request that the platform sends when a callback URL is saved: true if the
   * answer is the challenge.
   */
  async verify(url: string, verify_token: string): Promise<boolean> {
    const challenge = String(Math.floor(Math.random() * 1e9));
    try {
      const target = new URL(url);
      target.searchParams.set('hub.mode', 'subscribe');
      target.searchParams.set('hub.verify_token', verify_token);
      target.searchParams.set('hub.challenge', challenge);
      const options = { dispatcher: this.agent, headersTimeout: TIMEOUT_MS };
      const { statusCode, body } = await request(target, options);
      return (await body.text()) === challenge && statusCode === 200;
    } catch {
      return false;
    }
  }

  reset(): void {
    this.epoch += 1;
    this.timers.clear();
    this.retry_bytes = 0;
    Object.assign(this.counts, newCounts());
  }

  async close(): Promise<void> {
    this.closed = true;
    this.reset();
    await this.agent.destroy();
  }

  private retryLater({ body, attempt, items }: PendingRetry): void {
    const delay = this.behaviour.current.retry_delays_ms[attempt - 1];
    const full = this.retry_bytes + body.length > RETRY_BYTES_MAX;
    if (delay === undefined || full || this.closed) {
      this.counts.lost += items;
      return;
    }
    this.retry_bytes += body.length;
    this.timers.after(delay, () => {
      this.retry_bytes -= body.length;
      void this.retry({ body, attempt, items });
    });
  }

  private async retry({ body, attempt, items }: PendingRetry): Promise<void> {
    const { epoch } = this;
    this.counts.retried += 1;
    const { http_status } = await this.post(body);
    if (epoch !== this.epoch) return;
    if (http_status === 200) this.counts.items_acknowledged += items;
    else this.retryLater({ body, attempt: attempt + 1, items });
  }
}

function newCounts() {
  return {
    /** Requests made, including repetitions. */
    posted: 0,
    acknowledged: 0,
    failed: 0,
    retried: 0,
    duplicates: 0,
    items_acknowledged: 0,
    /** Items abandoned after the last attempt. */
    lost: 0,
  };
}
