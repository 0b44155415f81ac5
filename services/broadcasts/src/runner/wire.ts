import type { Config } from '@bmg/common/config';
import type { Component } from '@bmg/common/lifecycle';
import type { settings } from '../config';
import type { StateWriter } from '../contact-states/state-writer';
import type { Dependencies } from '../dependencies';
import { giveWayToOwnSends } from '../pace/own-sends';
import { createRunner } from './runner';

/** Shorter than a graceful shutdown, longer than most answers of the upstream take. */
const SENDS_STOP_LIMIT_MS = 12_000;

export interface RunnerFeature {
  /** A broadcast may be due. */
  wake(this: void): void;
  giveWay: ReturnType<typeof giveWayToOwnSends>;
  components: Component[];
}

export function wireRunner(
  deps: Dependencies,
  stateWriter: StateWriter,
  config: Config<typeof settings>,
): RunnerFeature {
  const runner = createRunner({
    ...deps,
    stateWriter,
    settings: {
      share_percent: config.BROADCAST_SHARE_PERCENT,
      grace_ms: config.BROADCAST_GRACE_MS,
      lease_ms: config.BROADCAST_LEASE_MS,
      stop_limit_ms: SENDS_STOP_LIMIT_MS,
    },
  });
  return {
    wake: () => runner.wake(),
    giveWay: giveWayToOwnSends({
      pace: deps.pace,
      isActive: (phone_number_id) => runner.isActive(phone_number_id),
    }),
    components: [runner],
  };
}
