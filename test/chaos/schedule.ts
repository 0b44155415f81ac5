// The schedule of faults: drawn from the seed before the run starts, so that the same seed gives
// the same faults at the same times.
import { seededRandom, type Random } from '../emulator/random';

/** A fault as the table describes it; faults.ts adds how it starts and stops. */
export interface FaultKind {
  name: string;
  /** How often it is drawn, beside the others. */
  weight: number;
  targets: readonly string[];
  /** How long it lasts, in milliseconds. */
  lasts_ms: readonly [number, number];
}

export interface Planned {
  at_ms: number;
  name: string;
  target: string;
  lasts_ms: number;
  /** Seed of the fault's own decisions. */
  seed: number;
}

/** Traffic without faults, at the beginning and at the end. */
const QUIET_MS = 5_000;
const BETWEEN_MS: readonly [number, number] = [1_500, 7_000];
const AT_ONCE_MAX = 3;
const DRAWS_MAX = 50;
/** A restart takes this long on top of the time that the fault lasts. */
const RESTART_MS = 4_000;

export const between = (random: Random, [from, to]: readonly [number, number]): number =>
  Math.round(from + random() * (to - from));

export const pick = <T>(random: Random, all: readonly T[]): T =>
  all[Math.floor(random() * all.length)] as T;

/** Never two faults of one target at a time, and at most three in total. */
export function planFaults(seed: number, run_ms: number, kinds: readonly FaultKind[]): Planned[] {
  const random = seededRandom(seed);
  const planned: Planned[] = [];
  const ends = (one: Planned): number => one.at_ms + one.lasts_ms + RESTART_MS;
  for (let at_ms = QUIET_MS; ; at_ms += between(random, BETWEEN_MS)) {
    const found = draw(random, kinds, (one) => {
      const running = planned.filter((other) => ends(other) > at_ms);
      return running.length < AT_ONCE_MAX && !running.some(({ target }) => target === one.target);
    });
    if (!found) continue;
    const one = { at_ms, ...found };
    if (one.at_ms > run_ms - QUIET_MS) return planned;
    if (one.at_ms + one.lasts_ms <= run_ms - QUIET_MS) planned.push(one);
  }
}

type Drawn = Omit<Planned, 'at_ms'>;

function draw(
  random: Random,
  kinds: readonly FaultKind[],
  fits: (one: Drawn) => boolean,
): Drawn | undefined {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (let time = 0; time < DRAWS_MAX; time += 1) {
    let left = random() * total;
    const kind = kinds.find(({ weight }) => (left -= weight) < 0) ?? (kinds[0] as FaultKind);
    const one = {
      name: kind.name,
      target: pick(random, kind.targets),
      lasts_ms: between(random, kind.lasts_ms),
      seed: Math.floor(random() * 1_000_000),
    };
    if (fits(one)) return one;
  }
  return undefined;
}
