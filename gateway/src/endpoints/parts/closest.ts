// "Did you mean": the closest known name to one that is not known.
import leven from 'leven';

/** Longer names are not compared: the work grows with the square of the length. */
export const LENGTH_MAX = 100;
const DISTANCE_MAX = 3;

const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** Undefined if no known name is close enough. `phoneNumberId` is close to `phone_number_id`. */
export function closest(given: string, known: readonly string[]): string | undefined {
  if (given.length > LENGTH_MAX) return undefined;
  const wanted = plain(given);
  const distance_max = Math.min(DISTANCE_MAX, Math.floor(wanted.length / 3));
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    if (name.length > LENGTH_MAX) continue;
    const distance = leven(wanted, plain(name));
    if (distance <= distance_max && distance < (best?.distance ?? Infinity)) {
      best = { name, distance };
    }
  }
  return best?.name;
}
