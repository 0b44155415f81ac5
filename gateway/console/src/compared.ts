// Two periods side by side: the counts of each group now and before. Pure.
export interface ComparedRow {
  name: string;
  now: number;
  before: number;
}

/**
 * Groups of either period, the largest of now first; groups without a message in both are left out.
 */
export function compare(
  now: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): ComparedRow[] {
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...names]
    .map((name) => ({ name, now: now[name] ?? 0, before: before[name] ?? 0 }))
    .filter((row) => row.now + row.before > 0)
    .sort((one, other) => other.now - one.now || one.name.localeCompare(other.name));
}
