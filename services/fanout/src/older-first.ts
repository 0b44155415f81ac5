// The switch from webhooks keyed by number (`upstream-webhook.v1`, up to release 2.10.0) to those keyed
// by conversation: the newer ones wait until all older ones are handled, so that an upgrade keeps the
// order of each conversation.
import type { Backlog } from '@bmg/common/bus';
import { pause } from '@bmg/common/lifecycle';

export interface OlderFirst {
  /**
   * Resolves once no older webhook waits, as of the last 400 ms, or of the last 10 s if none was
   * published for a minute. Rejects after 5 s, or if Kafka does not answer.
   */
  handled(): Promise<void>;
}

const LOOK_EVERY_MS = 100;
const WAIT_LIMIT_MS = 5_000;
/** While an older ingress runs beside newer ones, it publishes more often than this. */
const UPGRADE_MS = 60_000;
/**
 * How long a look is trusted. The next one begins when half of that is over, if webhooks arrive:
 * they do not wait for its answer, which takes six requests to Kafka.
 */
const TRUST_MS = { upgrading: 400, later: 10_000 };

/** `look` returns the older webhooks, handled or not. */
export function createOlderFirst(
  look: () => Promise<Backlog>,
  now: () => number = () => performance.now(),
): OlderFirst {
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
    look_at = looked_at + trust_ms / 2;
    trusted_until = looked_at + trust_ms;
  };
  return {
    async handled() {
      if (now() < look_at) return;
      looking ??= untilHandled().finally(() => (looking = undefined));
      if (now() >= trusted_until) return looking;
      // Its failure shows once the last look is no longer trusted.
      looking.catch(() => undefined);
    },
  };
}
