// Back to the seed: a new world, empty logs, no faults, default behaviour. Settings and address stay.
import type { Core } from './core';
import { seedState } from './seed';

export function resetCore(core: Core): void {
  core.webhooks.reset();
  core.media.close();
  core.state = seedState();
  core.journal.clear();
  core.faults.clear();
  core.limits.reset();
  core.behaviour.reset();
}
