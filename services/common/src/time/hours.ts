// The hours of a range, so that what reads or changes its documents works in pages.

const HOUR_MS = 3_600_000;

interface Range {
  from: Date;
  /** Excluded. */
  to: Date;
}

/** The last one ends with the range. */
export function hoursOf({ from, to }: Range): Range[] {
  const hours: Range[] = [];
  for (let at = from.getTime(); at < to.getTime(); at += HOUR_MS) {
    hours.push({
      from: new Date(at),
      to: new Date(Math.min(at + HOUR_MS, to.getTime())),
    });
  }
  return hours;
}
