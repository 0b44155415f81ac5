// Decides whether sends are claimed: not while a messaging replica of the previous release, which
// has no such RPC, is still running. One release later every replica has it, and this file can be
// deleted.
/** Until then sends are made without a claim, as in the previous release. */
const RETRY_AFTER_MS = 60_000;

export function createClaimSupport(now = () => performance.now()) {
  let off_until = -Infinity;
  return {
    isOn: (): boolean => now() >= off_until,
    /** Called when a replica lacks the RPC. */
    isMissing: (): void => void (off_until = now() + RETRY_AFTER_MS),
  };
}

export type ClaimSupport = ReturnType<typeof createClaimSupport>;
