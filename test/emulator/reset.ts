// Resets to the seed: a new world, empty logs, no faults, default behaviour. Configuration and URL
// stay.
import type { Core } from './core';
import { seedState } from './seed';

/** `world` selects the IDs of the seed. */
export function resetCore(core: Core, world = 0): void {
  core.webhooks.reset();
  core.media.close();
  core.state = seedState(Date.now(), world);
  core.journal.clear();
  core.faults.clear();
  core.limits.reset();
  core.behaviour.reset();
}
