// Findings of a pre-flight over many contacts: each reason once, with its contacts and some examples. Pure.
import type { Reason } from './reasons';

/** Examples of one reason: enough to see a pattern. */
export const EXAMPLES_MAX = 10;

export interface Example {
  place: number;
  field: string | null;
  message: string;
}

export interface Finding {
  /** The first one found; the others may differ in field and message. */
  reason: Reason;
  /** Places of the contacts; none if it does not concern single contacts. */
  places: number[];
  examples: Example[];
}

export class Findings {
  private readonly found = new Map<string, Finding>();

  /** Reasons with the same code and effect are one, if they concern contacts. */
  add(reason: Reason, place?: number): void {
    const { code, effect, upstream_code, field, message } = reason;
    const key = [code, effect, upstream_code, ...(place === undefined ? [field, message] : [])];
    const finding = this.at(key.join(' '), reason);
    if (place === undefined) return;
    finding.places.push(place);
    if (finding.examples.length < EXAMPLES_MAX) finding.examples.push({ place, field, message });
  }

  list(): Finding[] {
    return [...this.found.values()];
  }

  private at(key: string, reason: Reason): Finding {
    const known = this.found.get(key);
    if (known) return known;
    const finding = { reason, places: [], examples: [] };
    this.found.set(key, finding);
    return finding;
  }
}
