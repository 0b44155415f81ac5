// Finds the active broadcasts and runs a lane for each of their numbers. Every worker does the
// same: the leases of chunks decide which worker sends a contact, and the shared pace decides when.
import { randomBytes } from 'node:crypto';
import { createPoller, type Component, type Poller } from '@bmg/common/lifecycle';
import { groupBy } from '@bmg/common/collections';
import { metrics } from '@bmg/common/telemetry';
import { ACTIVE } from '../ground/broadcast-machine';
import type { Broadcast } from '../ground/types';
import { chooseNumbers } from './choose-numbers';
import type { RunnerDependencies } from './dependencies';
import { NumberLane } from './number-lane';
import { TURNS_MAX } from './rotation';
import { sweep } from './sweeper';

const FIND_EVERY_MS = 1_000;
/** Numbers that one worker serves at a time; with more, each worker serves others. */
const LANES_MAX = 1_000;
/** Renewals of a lease before it would expire. */
const RENEWALS = 3;
const SWEEP_EVERY_MS = 60_000;

export class Runner implements Component {
  readonly name = 'runner';
  private readonly worker = randomBytes(9).toString('base64url');
  private readonly lanes = new Map<string, NumberLane>();
  private readonly stopping = new AbortController();
  private readonly finding: Poller;
  private readonly renewing: Poller;
  private readonly sweeping: Poller;
  /** Wakes the search when the next scheduled broadcast falls due. */
  private dueTimer: NodeJS.Timeout | undefined;
  private activeNumbers: ReadonlySet<string> = new Set();

  constructor(private readonly deps: RunnerDependencies) {
    const { settings, log } = deps;
    this.finding = createPoller('broadcasts', FIND_EVERY_MS, () => this.findBroadcasts(), log);
    this.renewing = createPoller('leases', settings.lease_ms / RENEWALS, () => this.renew(), log);
    this.sweeping = createPoller('sweep', SWEEP_EVERY_MS, () => sweep(deps), log);
  }

  /** Looks for new broadcasts now instead of at the next interval. */
  wake(): void {
    this.finding.wake();
  }

  /** True if the number had active broadcasts at the last look, on any worker. */
  isActive(phone_number_id: string): boolean {
    return this.activeNumbers.has(phone_number_id);
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.renewing.start(signal);
    await this.finding.start(signal);
    await this.sweeping.start(signal);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.dueTimer);
    await Promise.all([this.finding.stop(), this.sweeping.stop()]);
    await Promise.all([...this.lanes.values()].map((lane) => lane.stop()));
    // Leases are renewed until the last lane has returned its own.
    await this.renewing.stop();
  }

  private async findBroadcasts(): Promise<void> {
    const { broadcasts } = this.deps;
    const now = new Date();
    this.wakeAt(await broadcasts.fallDue(now, new Date(now.getTime() + FIND_EVERY_MS)));
    const active = await broadcasts.activeByNumber(TURNS_MAX);
    this.activeNumbers = new Set(active.keys());
    const served = chooseNumbers(active, LANES_MAX, this.lanes);
    const found = await broadcasts.load(served.flatMap((number) => active.get(number)?.ids ?? []));
    for (const status of ACTIVE) {
      const count = found.filter((one) => one.status === status).length;
      metrics.broadcasts_active.set({ status }, count);
    }
    found.sort((a, b) => a._id - b._id);
    await this.updateLanes(groupBy(found, (one) => one.phone_number_id));
  }

  private wakeAt(due: Date | undefined): void {
    clearTimeout(this.dueTimer);
    if (!due) return;
    this.dueTimer = setTimeout(() => this.wake(), Math.max(0, due.getTime() - Date.now()));
  }

  private async updateLanes(active: Map<string, Broadcast[]>): Promise<void> {
    for (const [number, lane] of this.lanes) {
      lane.update(active.get(number) ?? []);
      if (!lane.isEmpty()) continue;
      this.lanes.delete(number);
      await lane.stop();
    }
    for (const [number, broadcasts] of active) {
      if (this.lanes.has(number)) continue;
      const lane = new NumberLane(number, this.deps, this.worker);
      this.lanes.set(number, lane);
      lane.update(broadcasts);
      await lane.start(this.stopping.signal);
    }
  }

  private async renew(): Promise<void> {
    const held = [...this.lanes.values()].flatMap((lane) => lane.leases());
    await this.deps.chunks.renew(held, new Date(Date.now() + this.deps.settings.lease_ms));
  }
}
