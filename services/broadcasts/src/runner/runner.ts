// Finds the broadcasts that there is something to do for, and gives each number its lane. Every worker does
// the same: who sends what is settled by the leases of chunks, how fast by the shared pace.
import { randomBytes } from 'node:crypto';
import { createPoller, type Component } from '@bmg/common/lifecycle';
import { metrics } from '@bmg/common/telemetry';
import { ACTIVE } from '../broadcast-machine';
import { forgetContacts } from '../store/remove-contacts';
import { chunkIds } from '../request-id';
import type { Broadcast } from '../store/types';
import type { RunnerDependencies } from './dependencies';
import { Lane, TURNS_MAX } from './number-lane';

export interface Runner extends Component {
  /** There may be a new broadcast. */
  wake(): void;
  /** Whether broadcasts of the number were active at the last look, on whatever worker. */
  isActive(phone_number_id: string): boolean;
}

const LOOK_EVERY_MS = 1_000;
/** Numbers served at a time by one worker; with more, each worker serves others. */
const LANES_MAX = 1_000;
/** Leases are renewed this many times before they end. */
const RENEWALS = 3;
const SWEEP_EVERY_MS = 60_000;
const SWEEP_MAX = 100;
/** A creation that takes longer has died. */
const DRAFT_LIFE_MS = 10 * 60_000;
/** As long as usage is kept. Chunks have no date of their own, so that an index could not do it. */
const KEPT_MS = 400 * 86_400_000;

export function createRunner(deps: RunnerDependencies): Runner {
  const { broadcasts, chunks, settings, log } = deps;
  const worker = randomBytes(9).toString('base64url');
  const lanes = new Map<string, Lane>();
  const stopping = new AbortController();
  let alarm: NodeJS.Timeout | undefined;
  let numbers: ReadonlySet<string> = new Set();

  /** Exactly when the next scheduled one falls due, also between two looks. */
  const setAlarm = (at: Date | undefined): void => {
    clearTimeout(alarm);
    if (at) alarm = setTimeout(() => looking.wake(), at.getTime() - Date.now());
  };

  const look = async (): Promise<void> => {
    const now = new Date();
    setAlarm(await broadcasts.fallDue(now, new Date(now.getTime() + LOOK_EVERY_MS)));
    const active = await broadcasts.activeByNumber(TURNS_MAX);
    numbers = new Set(active.keys());
    const served = choose([...active.keys()]);
    const found = await broadcasts.load(served.flatMap((number) => active.get(number) ?? []));
    tellActive(found);
    const byNumber = new Map<string, Broadcast[]>();
    for (const broadcast of found.sort((a, b) => a._id - b._id)) {
      const list = byNumber.get(broadcast.phone_number_id);
      if (list) list.push(broadcast);
      else byNumber.set(broadcast.phone_number_id, [broadcast]);
    }
    for (const [number, lane] of lanes) {
      lane.offer(byNumber.get(number) ?? []);
      if (!lane.isEmpty()) continue;
      lanes.delete(number);
      await lane.stop();
    }
    for (const [number, list] of byNumber) {
      if (lanes.has(number)) continue;
      const lane = new Lane(number, deps, worker);
      lanes.set(number, lane);
      lane.offer(list);
      await lane.start(stopping.signal);
    }
  };

  /** Numbers in service stay; free places go to others, at random, so that none is passed over for ever. */
  const choose = (candidates: string[]): string[] => {
    if (candidates.length <= LANES_MAX) return candidates;
    const order = new Map(
      candidates.map((number) => [number, lanes.has(number) ? 0 : 1 + Math.random()]),
    );
    return candidates.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).slice(0, LANES_MAX);
  };

  const tellActive = (found: Broadcast[]): void => {
    for (const status of ACTIVE) {
      const count = found.filter((one) => one.status === status).length;
      metrics.broadcasts_active.set({ status }, count);
    }
  };

  const renew = async (): Promise<void> => {
    const held = [...lanes.values()].flatMap((lane) => lane.leases());
    await chunks.renew(held, new Date(Date.now() + settings.lease_ms));
  };

  /**
   * What a crash left lying (contacts of ended broadcasts, creations that were never completed), and what
   * has been kept long enough.
   */
  const sweep = async (): Promise<void> => {
    for (const ended of await broadcasts.endedWithContacts(SWEEP_MAX))
      await forgetContacts(deps, ended);
    const ago = (ms: number): Date => new Date(Date.now() - ms);
    const over = [
      ...(await broadcasts.draftsBefore(ago(DRAFT_LIFE_MS), SWEEP_MAX)),
      ...(await broadcasts.endedBefore(ago(KEPT_MS), SWEEP_MAX)),
    ];
    for (const one of over) {
      const ids = chunkIds(one);
      await chunks.removeContacts(ids);
      await chunks.remove(ids);
      await broadcasts.remove(one._id);
    }
  };

  const looking = createPoller('broadcasts', LOOK_EVERY_MS, look, log);
  const renewing = createPoller('leases', settings.lease_ms / RENEWALS, renew, log);
  const sweeping = createPoller('sweep', SWEEP_EVERY_MS, sweep, log);
  return {
    name: 'runner',
    wake: () => looking.wake(),
    isActive: (phone_number_id) => numbers.has(phone_number_id),
    async start(signal) {
      await renewing.start(signal);
      await looking.start(signal);
      await sweeping.start(signal);
    },
    async stop() {
      stopping.abort();
      clearTimeout(alarm);
      await Promise.all([looking.stop(), sweeping.stop()]);
      await Promise.all([...lanes.values()].map((lane) => lane.stop()));
      await renewing.stop();
    },
  };
}
