// The switch from webhooks keyed by number (`upstream-webhook.v1`, up to release 2.10.0) to those
// keyed by conversation: the newer ones wait until all older ones are handled, so that an upgrade
// keeps the order of each conversation.
import type { Backlog } from '@bmg/common/bus';
import { pause } from '@bmg/common/lifecycle';

const LOOK_EVERY_MS = 100;
const WAIT_LIMIT_MS = 5_000;
/** An older ingress may publish until an upgrade is complete. */
const UPGRADE_MS = 600_000;
const TRUST_MS = { upgrading: 200, later: 60_000 };
/**
 * The part of that time after which the next look begins, if webhooks arrive: they do not wait for
 * its answer, which takes six requests to Kafka.
 */
const LOOK_AFTER = 0.7;

/** `look` returns the older webhooks, handled or not. */
export function createOlderFirst(
  look: () => Promise<Backlog>,
  now: () => number = () => performance.now(),
) {
  let published = -1;
  let published_at = now();
  let look_at = 0;
  let trusted_until = 0;
  let looking: Promise<void> | undefined;
  const count = async (): Promise<number> => {
    const found = await look();
    if (found.published !== published) published_at = now();
    published = found.published;
    return found.waiting;
  };
  const untilHandled = async (): Promise<void> => {
    const until = now() + WAIT_LIMIT_MS;
    let looked_at = now();
    while ((await count()) > 0) {
      if (now() >= until) throw new Error('webhooks of an older release are not handled yet');
      await pause(LOOK_EVERY_MS);
      looked_at = now();
    }
    const is_upgrading = now() - published_at < UPGRADE_MS;
    const trust_ms = is_upgrading ? TRUST_MS.upgrading : TRUST_MS.later;
    look_at = looked_at + trust_ms * LOOK_AFTER;
    trusted_until = looked_at + trust_ms;
  };
  return {
    /**
     * Resolves once no older webhook waits, as of the last 200 ms, or of the last minute if none
     * was published for ten. Rejects after 5 s, or if Kafka does not answer.
     */
    async handled(): Promise<void> {
      if (now() < look_at) return;
      looking ??= untilHandled().finally(() => (looking = undefined));
      if (now() >= trusted_until) return looking;
      // Its failure shows once the last look is no longer trusted.
      looking.catch(() => undefined);
    },
  };
}
