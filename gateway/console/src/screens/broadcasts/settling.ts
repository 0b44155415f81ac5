// Whether the figures of a broadcast still change. Pure.
import type { BroadcastDetail } from '../../api/types';

/** Statuses and charges of its messages arrive after the end; most do within this time. */
const SETTLING_MS = 600_000;

export const isSettling = (
  { completed_at }: Pick<BroadcastDetail, 'completed_at'>,
  now = Date.now(),
): boolean => completed_at !== null && now - Date.parse(completed_at) < SETTLING_MS;
