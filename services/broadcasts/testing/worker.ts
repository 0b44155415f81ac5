// A worker with real stores and a test double for messaging. It can be killed like a crashed process.
import pino from 'pino';
import { ApiError } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import type { Credential } from '@bmg/common/directory';
import type { SendBroadcastMessageRequest, SendResult } from '@bmg/proto/messaging';
import { createLedger } from '../src/ledger/ledger';
import { createPace, type Pace } from '../src/pace/redis-pace';
import type { RunnerSettings } from '../src/runner/dependencies';
import { createRunner } from '../src/runner/runner';
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

/** Test double of the messaging service: records requests and answers as configured. */
export function createMessagingDouble(latency_ms = 20) {
  const sent: Sent[] = [];
  let answer: (request: SendBroadcastMessageRequest, sent: Sent) => Promise<void> | void = () =>
    undefined;
  return {
    sent,
    /** Sets the answer: it may throw, wait, or accept the message. */
    answers(next: typeof answer): void {
      answer = next;
    },
    recipients: (): string[] => sent.map(({ recipient }) => recipient),
    rpc: {
      async sendBroadcastMessage(
        request: SendBroadcastMessageRequest,
        _call: Call,
      ): Promise<SendResult> {
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
  is_on_biz_app: true,
  ...overrides,
});

interface Life {
  dead: boolean;
  /** Calls of a dead worker wait for this; it rejects at the end of the test, so that nothing stays pending. */
  never: Promise<never>;
  bury: (error: Error) => void;
}

function createLife(): Life {
  const life: Life = { dead: false, never: Promise.reject(new Error()), bury: () => undefined };
  life.never.catch(() => undefined);
  life.never = new Promise((_resolve, reject) => (life.bury = reject));
  life.never.catch(() => undefined);
  return life;
}

/** Once dead, calls are never answered, and the results of calls in flight are dropped. */
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
  const ledger = createLedger(chunks);
  const runner = createRunner({
    broadcasts: mortal(stores.broadcasts, life),
    chunks,
    ledger,
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
    ledger,
    /** Like a killed process: no lease is returned, no answer awaited. */
    kill(): void {
      life.dead = true;
    },
    async stop(): Promise<void> {
      const { dead } = life;
      life.bury(new Error('dead'));
      const stopped = runner.stop().then(() => ledger.stop());
      await (dead ? stopped.catch(() => undefined) : stopped);
    },
  };
}
