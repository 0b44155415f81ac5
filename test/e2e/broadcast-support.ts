// Helpers for broadcast tests: contacts, creating a broadcast, waiting for its completion, and what
// reached the emulator of it.
import type { EmulatorClient } from '../emulator/client';
import { eventually } from '../testkit/eventually';
import type { Answer, SeededNumber } from '../testkit/rest';

/** A partner of the in-process mesh or of the process mesh. */
export interface Caller {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

export const scopeOf = ({ waba_id, phone_number_id }: SeededNumber): Record<string, string> => ({
  'x-waba-id': waba_id,
  'x-phone-number-id': phone_number_id,
});

/** Distinct phone numbers; `from` is the index of the first. */
export const people = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_unused, at) => String(15_551_000_000 + from + at));

export const aBroadcast = (contacts: unknown[], overrides: object = {}): object => ({
  name: 'Autumn',
  template_name: 'hello_world',
  template_language: 'en_US',
  contacts,
  ...overrides,
});

export async function createBroadcast(
  partner: Caller,
  number: SeededNumber,
  contacts: unknown[],
  overrides: object = {},
  headers: Record<string, string> = {},
): Promise<number> {
  const body = aBroadcast(contacts, overrides);
  const answer = await partner.call('POST', '/broadcasts', body, {
    ...scopeOf(number),
    ...headers,
  });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.broadcast_id as number;
}

export async function detailOf(partner: Caller, id: number): Promise<Detail> {
  const { status, body } = await partner.call('GET', `/broadcasts/${id}`);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.broadcast as Detail;
}

export const untilCompleted = (partner: Caller, id: number, limit_ms: number): Promise<Detail> =>
  eventually(async () => {
    const detail = await detailOf(partner, id);
    if (detail.status === 'completed') return detail;
    throw new Error(`${detail.status}: ${detail.sent} sent, ${detail.failed} failed`);
  }, limit_ms);

/** The fields of `GET /broadcasts/{broadcast_id}` used here. */
export interface Detail {
  status: string;
  total: number;
  sent: number;
  delivered: number;
  failed: number;
  error_log: string | null;
  rate_per_sec: number | null;
  estimated_completion_at: string | null;
  started_at: string | null;
  completed_at: string | null;
  paused_at: string | null;
  failures: Array<{ code: string; count: number }>;
}

export interface Arrivals {
  /** Recipients of the messages, in the order of arrival. */
  recipients: string[];
  /** Arrival times in milliseconds. */
  times: number[];
  /** The broadcast of each message. */
  broadcasts: number[];
}

const LOG_MAX = 200_000;
const BROADCAST = /:bc_(\d+)_/;

/** The broadcast messages that the emulator accepted from a number. */
export async function arrivalsOf(
  emulator: EmulatorClient,
  { phone_number_id }: { phone_number_id: string },
): Promise<Arrivals> {
  const all = await emulator.messages({ phone_number_id, limit: LOG_MAX });
  const found = all.flatMap(({ to, user_id, time, biz_opaque_callback_data }) => {
    const broadcast = BROADCAST.exec(biz_opaque_callback_data ?? '')?.[1];
    return broadcast === undefined
      ? []
      : [{ recipient: to ?? user_id ?? '', time: Date.parse(time), broadcast: Number(broadcast) }];
  });
  return {
    recipients: found.map(({ recipient }) => recipient),
    times: found.map(({ time }) => time),
    broadcasts: found.map(({ broadcast }) => broadcast),
  };
}

/** Seconds from the first message to the last. */
export const spanOf = ({ times }: Pick<Arrivals, 'times'>): number =>
  ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;

export const rateOf = (arrivals: Pick<Arrivals, 'times'>): number =>
  (arrivals.times.length - 1) / spanOf(arrivals);

/** How many messages of the number the emulator refused, including by its own limiter. */
export async function refusedOf(
  emulator: EmulatorClient,
  { phone_number_id }: { phone_number_id: string },
): Promise<number> {
  const path = `/${phone_number_id}/messages$`;
  const asked = await emulator.requests({ method: 'POST', path, limit: LOG_MAX });
  return asked.filter(({ status }) => status !== null && status >= 400).length;
}
