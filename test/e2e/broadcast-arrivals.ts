// Observes a broadcast from outside, for tests: its detail, when each message
// reached the emulator, and how many the emulator's limiter refused.
import type { EmulatorClient } from '../emulator/client';

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
