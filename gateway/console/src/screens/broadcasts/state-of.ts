// The state of a broadcast in words, and whether its figures still change. Pure.
import type { Broadcast } from '../../api/types';

/** The API shows a pause beside the status, which stays `processing`. */
export const isPaused = ({ status, paused_at }: Pick<Broadcast, 'status' | 'paused_at'>): boolean =>
  status === 'processing' && paused_at !== null;

/** The status of a broadcast does not show that it waits for approval. */
export const waitsForApproval = ({ approval }: Pick<Broadcast, 'approval'>): boolean =>
  approval?.state === 'waiting';

export function stateOf(broadcast: Pick<Broadcast, 'status' | 'paused_at' | 'approval'>): string {
  if (waitsForApproval(broadcast)) return 'waits_for_approval';
  return isPaused(broadcast) ? 'paused' : broadcast.status;
}

export const isOver = ({ status }: Pick<Broadcast, 'status'>): boolean =>
  status === 'completed' || status === 'cancelled';

/** Statuses and charges of its messages arrive after the last one; most do within this time. */
const SETTLING_MS = 600_000;

/**
 * True if it has stopped sending a short time ago: completed, paused, or cancelled while paused.
 */
export function isSettling(
  { completed_at, paused_at }: Pick<Broadcast, 'completed_at' | 'paused_at'>,
  now = Date.now(),
): boolean {
  const stopped_at = completed_at ?? paused_at;
  return stopped_at !== null && now - Date.parse(stopped_at) < SETTLING_MS;
}

/** While it runs, and while statuses still arrive. */
export const isMoving = (broadcast: Broadcast): boolean =>
  isSettling(broadcast) ||
  !(isOver(broadcast) || isPaused(broadcast) || waitsForApproval(broadcast));
