// The switch from webhooks keyed by number (`upstream-webhook.v1`, up to release 2.10.0) to those keyed
// by conversation: the newer ones wait until all older ones are handled, so that an upgrade keeps the
// order of each conversation.
import { pause } from '@bmg/common/lifecycle';

export interface OlderFirst {
  /**
   * Resolves once no older webhook waits, as of the last 200 ms (later of the last minute). Rejects
   * after 5 s, or if Kafka does not answer.
   */
  handled(): Promise<void>;
}

const LOOK_EVERY_MS = 100;
const WAIT_LIMIT_MS = 5_000;
/** An older ingress may publish until an upgrade is complete. */
const UPGRADE_MS = 600_000;
const LOOK_AGAIN_MS = { upgrading: 200, later: 60_000 };

/** `waiting` returns the number of older webhooks that are not handled. */
export function createOlderFirst(
  waiting: () => Promise<number>,
  now: () => number = () => performance.now(),
): OlderFirst {
  let upgrading_until = now() + UPGRADE_MS;
  let trusted_until = 0;
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    const until = now() + WAIT_LIMIT_MS;
    while ((await waiting()) > 0) {
      upgrading_until = now() + UPGRADE_MS;
      if (now() >= until) throw new Error('webhooks of an older release are not handled yet');
      await pause(LOOK_EVERY_MS);
    }
    const is_upgrading = now() < upgrading_until;
    trusted_until = now() + (is_upgrading ? LOOK_AGAIN_MS.upgrading : LOOK_AGAIN_MS.later);
  };
  return {
    async handled() {
      if (now() < trusted_until) return;
      looking ??= look().finally(() => (looking = undefined));
      await looking;
    },
  };
}
