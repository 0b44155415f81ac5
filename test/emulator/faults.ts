// Faults on demand: which requests a fault matches, and its one effect. fault-effects.ts applies
// the effect.
import { any, flag, number, oneOf, shape, text, type Input } from './readers';
import { seededRandom, type Random } from './random';
import type { JsonObject } from './types';

const FAULTS_MAX = 1000;
export const HANG_MAX_MS = 120_000;

const MATCH = { method: text, path: text, phone_number_id: text, body_contains: text };
const ERROR = {
  status: number(),
  code: number(),
  subcode: number(),
  message: text,
  error_data: any,
};
const EFFECT = {
  error: shape(ERROR),
  delay_ms: number(0, 600_000),
  drop: oneOf('before', 'after'),
  hang: flag,
  html: shape({ status: number() }),
  truncated: flag,
  empty: flag,
};
export const FAULT = {
  ...EFFECT,
  match: shape(MATCH),
  times: number(),
  probability: number(0, 1),
  seed: number(),
};
export type FaultInput = Input<typeof FAULT>;
type Effect = keyof typeof EFFECT;
const EFFECTS = Object.keys(EFFECT) as Effect[];

export interface Fault {
  id: number;
  input: FaultInput;
  effect: Effect;
  path: RegExp | null;
  random: Random | null;
  /** -1 means until cleared. */
  remaining: number;
  triggered: number;
}

/** The parts of a request that faults match. */
interface FaultSubject {
  method: string;
  path: string;
  /** The first node in the path. */
  node_id: string;
  body: string;
}

export class Faults {
  private faults: Fault[] = [];
  private count = 0;

  /** Returns the fault, or a text that describes the mistake in the input. */
  add(input: FaultInput): Fault | string {
    const effects = EFFECTS.filter((name) => input[name] !== undefined && input[name] !== false);
    const [effect] = effects;
    if (effects.length !== 1 || !effect) return `Give exactly one effect of: ${EFFECTS.join(', ')}`;
    let path: RegExp | null = null;
    try {
      if (input.match?.path) path = new RegExp(input.match.path);
    } catch {
      return 'match.path is not a regular expression';
    }
    const probability = input.probability ?? 1;
    this.count += 1;
    const fault: Fault = {
      id: this.count,
      input,
      effect,
      path,
      random: probability < 1 ? seededRandom(input.seed ?? 1) : null,
      remaining: input.times ?? 1,
      triggered: 0,
    };
    this.faults.push(fault);
    if (this.faults.length > FAULTS_MAX) this.faults.shift();
    return fault;
  }

  /** Returns the first matching fault, in the order added, and uses up one of its `times`. */
  take(subject: FaultSubject): Fault | null {
    for (const fault of this.faults) {
      if (fault.remaining === 0 || !fits(fault, subject)) continue;
      if (fault.random && fault.random() >= (fault.input.probability ?? 1)) continue;
      if (fault.remaining > 0) fault.remaining -= 1;
      fault.triggered += 1;
      return fault;
    }
    return null;
  }

  list(): JsonObject[] {
    return this.faults.map(showFault);
  }

  clear(id?: number): void {
    this.faults = id === undefined ? [] : this.faults.filter((fault) => fault.id !== id);
  }
}

export function showFault(fault: Fault) {
  const { id, remaining, triggered, input } = fault;
  return { id, remaining, triggered, ...input };
}

function fits({ input, path: pattern }: Fault, { method, path, node_id, body }: FaultSubject) {
  const { match = {} } = input;
  return (
    (match.method?.toUpperCase() ?? method) === method &&
    (!pattern || pattern.test(path)) &&
    (match.phone_number_id ?? node_id) === node_id &&
    body.includes(match.body_contains ?? '')
  );
}
