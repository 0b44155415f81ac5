// Back to the seed: a new world, empty logs, no faults, default behaviour. Settings and address stay.
import type { Core } from './core';
import { seedState } from './seed';

/** `world` says whose ids the seed has. */
export function resetCore(core: Core, world = 0): void {
  core.webhooks.reset();
  core.media.close();
  core.state = seedState(Date.now(), world);
  core.journal.clear();
  core.faults.clear();
  core.limits.reset();
  core.behaviour.reset();
}
