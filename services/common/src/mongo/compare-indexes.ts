// Compares the indexes that a service declares with those that its database has. Pure.
import type { IndexDescription } from 'mongodb';

/** The indexes of a service by collection, except those on `_id`, which always exist. */
export type Indexes = Record<string, readonly IndexDescription[]>;

/** An index as the server lists it. */
export type StoredIndex = IndexDescription & { name: string };

export interface DifferingOption {
  name: string;
  /** JSON; empty for an option that is absent. */
  declared: string;
  stored: string;
}

export type IndexDifference = { collection: string } & (
  | { state: 'missing'; declared: IndexDescription }
  | {
      state: 'different';
      declared: IndexDescription;
      stored: StoredIndex;
      options: DifferingOption[];
    }
  | { state: 'obsolete'; stored: StoredIndex }
);

const OPTIONS = [
  'unique',
  'sparse',
  'expireAfterSeconds',
  'partialFilterExpression',
  'collation',
  'hidden',
] as const;

export function compareIndexes(
  declared: Indexes,
  stored: Record<string, readonly StoredIndex[]>,
): IndexDifference[] {
  const collections = [...new Set([...Object.keys(declared), ...Object.keys(stored)])].sort();
  return collections.flatMap((collection): IndexDifference[] => {
    const left = new Set((stored[collection] ?? []).filter(({ name }) => name !== '_id_'));
    const found = (declared[collection] ?? []).flatMap((wanted): IndexDifference[] => {
      const same = [...left].filter(({ key }) => isSameKey(key, wanted.key));
      const present = same.find((one) => differingOptions(wanted, one).length === 0) ?? same[0];
      if (!present) return [{ collection, state: 'missing', declared: wanted }];
      left.delete(present);
      const options = differingOptions(wanted, present);
      return options.length === 0
        ? []
        : [{ collection, state: 'different', declared: wanted, stored: present, options }];
    });
    const rest = [...left].map((one) => ({ collection, state: 'obsolete' as const, stored: one }));
    return [...found, ...rest];
  });
}

export const isSameKey = (one: object, other: object): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export const differingOptions = (
  wanted: IndexDescription,
  present: IndexDescription,
): DifferingOption[] =>
  OPTIONS.map((name) => ({
    name,
    declared: textOf(wanted[name]),
    stored: textOf(present[name]),
  })).filter(({ declared, stored }) => declared !== stored);

/** An option that is `false` is the same as an absent one. */
const textOf = (value: unknown): string =>
  value === undefined || value === false ? '' : JSON.stringify(value);

/** True if the server can give the stored index the declared expiry in place. */
export const differsInExpiry = (options: readonly DifferingOption[]): boolean =>
  options.length === 1 && options[0]?.name === 'expireAfterSeconds' && options[0].declared !== '';

/** The fields in their order, such as `partner_id: 1, at: -1`. */
export const keyText = (key: object): string =>
  Object.entries(key)
    .map(([field, order]) => `${field}: ${order}`)
    .join(', ');
