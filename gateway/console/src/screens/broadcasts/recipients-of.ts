// Which messages of the log are those of a broadcast. Pure.
import type { BroadcastDetail, Message, TimelineEntry } from '../../api/types';

export interface Window {
  phone_number_id: string;
  from: string | undefined;
  to: string | undefined;
}

/** The log dates a message when the upstream has accepted it: that can be after the broadcast's end. */
const SLACK_MS = 5_000;

/** Messages of the number while the broadcast ran. */
export const windowOf = ({
  phone_number_id,
  started_at,
  completed_at,
}: Pick<BroadcastDetail, 'phone_number_id' | 'started_at' | 'completed_at'>): Window => ({
  phone_number_id,
  from: started_at ?? undefined,
  to:
    completed_at === null ? undefined : new Date(Date.parse(completed_at) + SLACK_MS).toISOString(),
});

export const recipientsOf = (messages: readonly Message[]): Message[] =>
  messages.filter(({ broadcast }) => broadcast);

/** The upstream's code of a failure; undefined if no status names one. */
export const failureOf = (entries: readonly TimelineEntry[]): string | undefined =>
  entries.findLast(({ status, error_code }) => status === 'failed' && error_code)?.error_code;
