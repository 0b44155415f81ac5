// A worker with real stores and a test double for messaging. It can be killed like a crashed
// process.
import pino from 'pino';
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Credential } from '@bmg/common/directory';
import type {
  SendClaimedMessageRequest,
  SendResult,
  SettleSendsRequest,
  SettleSendsResponse,
} from '@bmg/proto/messaging';
import { StateWriter } from '../src/contact-states/state-writer';
import { createPace, type Pace } from '../src/pace/redis-pace';
import type { RunnerSettings } from '../src/runner/dependencies';
import { Runner } from '../src/runner/runner';
import type { Stores } from './stores';
import type { Redis } from 'ioredis';

export const quiet = pino({ level: process.env['TEST_LOG'] ?? 'silent' });

export interface Sent {
  recipient: string;
  phone_number_id: string;
  request_id: string;
  at: number;
  components: unknown;
}

/**
 * - unknown: messaging was killed with every send, so that it knows no outcome.
 * - claims: the real rules, in memory.
 */
type Settling = 'unknown' | 'claims';

/** Test double of the messaging service: records requests and answers as configured. */
export function createMessagingDouble(latency_ms = 20, settling: Settling = 'unknown') {
  const sent: Sent[] = [];
  /** The latest attempt under each request id, claimed or fenced. */
  const claims = new Map<string, { attempt: number; claimed: boolean }>();
  let beforeClaim: (request: SendClaimedMessageRequest) => Promise<void> | void = () => undefined;
  const claim = ({ request_id, attempt }: SendClaimedMessageRequest): void => {
    if ((claims.get(request_id)?.attempt ?? 0) >= attempt)
      throw new ApiError('SERVER_ERROR', 'claimed or fenced', { details: { outcome: 'unknown' } });
    claims.set(request_id, { attempt, claimed: true });
  };
  const settle = (request_id: string, attempt: number): string => {
    const stored = claims.get(request_id);
    if (settling === 'unknown') return 'unknown';
    if (stored?.claimed) return 'sent';
    if (stored && stored.attempt > attempt) return 'unknown';
    claims.set(request_id, { attempt, claimed: false });
    return 'not_sent';
  };
  let answer: (request: SendClaimedMessageRequest, sent: Sent) => Promise<void> | void = () =>
    undefined;
  const send = async (request: SendClaimedMessageRequest): Promise<SendResult> => {
    const one: Sent = {
      recipient: request.recipient?.to ?? request.recipient?.user_id ?? '',
      phone_number_id: request.target?.phone_number_id ?? '',
      request_id: request.request_id,
      at: performance.now(),
      components: (request.template as { components?: unknown }).components,
    };
    sent.push(one);
    await new Promise((resolve) => setTimeout(resolve, latency_ms).unref());
    await answer(request, one);
    return { message_id: `wamid.${request.request_id}`, contacts: [] };
  };
  return {
    sent,
    /** Sets the answer: it may throw, wait, or accept the message. */
    answers(next: typeof answer): void {
      answer = next;
    },
    /**
     * Runs before a send is claimed: it may wait, or throw, and then messaging has not seen the
     * send.
     */
    receives(next: typeof beforeClaim): void {
      beforeClaim = next;
    },
    recipients: (): string[] => sent.map(({ recipient }) => recipient),
    rpc: {
      async sendClaimedMessage(
        request: SendClaimedMessageRequest,
        _call: Call,
      ): Promise<SendResult> {
        await beforeClaim(request);
        claim(request);
        return send(request);
      },
      async settleSends({ sends }: SettleSendsRequest, _call: Call): Promise<SettleSendsResponse> {
        return {
          sends: sends.map(({ request_id, attempt }) => ({
            request_id,
            outcome: settle(request_id, attempt),
          })),
        };
      },
    },
  };
}

export type MessagingDouble = ReturnType<typeof createMessagingDouble>;

export const refusal = (upstream_code: number, retryable = false): ApiError =>
  new ApiError('UPSTREAM_ERROR', `(#${upstream_code}) refused`, { upstream_code, retryable });

export const aCredential = (overrides: Partial<Credential> = {}): Credential => ({
  access_token: 'token',
  sending: 'active',
  phone_number: '15550100001',
  is_on_biz_app: false,
  ...overrides,
});

function createLife() {
  let bury = (_error: Error): void => undefined;
  /** Calls of a dead worker wait for this; it rejects at the end of the test. */
  const never = new Promise<never>((_resolve, reject) => (bury = reject));
  never.catch(() => undefined);
  return { dead: false, never, bury };
}

type Life = ReturnType<typeof createLife>;

/** Once dead, calls never return, and the results of calls in flight are dropped. */
function mortal<T extends object>(inner: T, life: Life): T {
  return new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (life.dead) return life.never;
        const result: unknown = (value as (...args: unknown[]) => unknown).apply(target, args);
        if (!(result instanceof Promise)) return result;
        return result.then(
          (answer: unknown) => (life.dead ? life.never : answer),
          (error: unknown) => (life.dead ? life.never : Promise.reject(error as Error)),
        );
      };
    },
  });
}

export interface WorkerOptions {
  stores: Stores;
  redis: Redis;
  messaging: MessagingDouble;
  credentials?: () => Credential | Promise<Credential>;
  settings?: Partial<RunnerSettings>;
  pace?: Pace;
}

export async function startWorker(options: WorkerOptions) {
  const { stores, redis, messaging, credentials = () => aCredential() } = options;
  const life = createLife();
  const chunks = mortal(stores.chunks, life);
  const stateWriter = new StateWriter(chunks);
  const runner = new Runner({
    broadcasts: mortal(stores.broadcasts, life),
    chunks,
    stateWriter,
    pace: mortal(options.pace ?? createPace({ redis }), life),
    credentials: mortal({ forSending: async () => credentials() }, life),
    messaging: mortal(messaging.rpc, life),
    settings: {
      share_percent: 95,
      grace_ms: 1_000,
      lease_ms: 1_500,
      stop_limit_ms: 3_000,
      ...options.settings,
    },
    log: quiet,
  });
  const signal = new AbortController().signal;
  await runner.start(signal);
  return {
    runner,
    stateWriter,
    /** Like a killed process: returns no lease and awaits no answer. */
    kill(): void {
      life.dead = true;
    },
    async stop(): Promise<void> {
      const { dead } = life;
      life.bury(new Error('dead'));
      const stopped = runner.stop().then(() => stateWriter.stop());
      await (dead ? stopped.catch(() => undefined) : stopped);
    },
  };
}
