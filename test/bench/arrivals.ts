// A broadcast from outside, for tests and the benchmark: how it stands, and what the emulator says of it: when
// each message arrived, and what its own limiter refused.
import type { EmulatorClient } from '../emulator/client';

/** What `GET /broadcasts/{broadcast_id}` shows, as far as it is looked at. */
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
  failures: Array<{ code: string; count: number }>;
}

export interface Arrivals {
  /** Who got a message, in the order of arrival. */
  recipients: string[];
  /** When, in milliseconds. */
  times: number[];
  /** Which broadcast each belongs to. */
  broadcasts: number[];
}

const LOG_MAX = 200_000;
const BROADCAST = /:bc_(\d+)_/;

/** What the emulator has accepted from a number for its broadcasts. */
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

/** From the first message to the last. */
export const spanOf = ({ times }: Pick<Arrivals, 'times'>): number =>
  ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;

export const rateOf = (arrivals: Pick<Arrivals, 'times'>): number =>
  (arrivals.times.length - 1) / spanOf(arrivals);

/** How many messages of the number the emulator has refused: its own limiter has the last word. */
export async function refusedOf(
  emulator: EmulatorClient,
  { phone_number_id }: { phone_number_id: string },
): Promise<number> {
  const path = `/${phone_number_id}/messages$`;
  const asked = await emulator.requests({ method: 'POST', path, limit: LOG_MAX });
  return asked.filter(({ status }) => status !== null && status >= 400).length;
}
