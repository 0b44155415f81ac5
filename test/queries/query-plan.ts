// How MongoDB answers a query from the declared indexes: fields compared with equal values first,
// then those of the order, then ranges; an index serves the whole order or nothing of it.
import type { Indexes } from '../../services/common/src/mongo';

/** A query without its values, as the stand-in for MongoDB records it. */
export interface QueryShape {
  database: string;
  collection: string;
  filter: Json;
  sort: Array<[field: string, direction: 1 | -1]>;
  limited: boolean;
}

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** `scans`: no index finds the documents. `sorts`: an index finds them, but not in their order. */
export type Verdict = 'served' | 'scans' | 'sorts';

type Key = Array<[field: string, direction: number]>;
/** How the filter compares a field; an `$in` is one equal value for each part of a merge. */
type Comparison = 'equal' | 'range';
type Comparisons = Map<string, Comparison>;

const ID: Key = [['_id', 1]];
const EQUAL = new Set(['$eq', '$in', '$all']);
const RANGE = new Set(['$gt', '$gte', '$lt', '$lte']);

export function verdictOn(shape: QueryShape, indexes: Indexes[string]): Verdict {
  const keys = [
    ID,
    ...indexes.map(({ key }): Key => Object.entries(key as Record<string, number>)),
  ];
  const { sort, filter, limited } = shape;
  const branches = branchesOf(filter as Record<string, Json>);
  if (Object.keys(filter as object).length === 0) {
    // Everything is wanted: in pages, or as a whole.
    return limited && keys.some((key) => serves(key, new Map(), sort)) ? 'served' : 'scans';
  }
  const verdicts = branches.map((compared): Verdict => {
    const found = keys.filter(([first]) => first !== undefined && compared.has(first[0]));
    if (found.length === 0) return 'scans';
    // At most one document has each ID.
    if (sort.length === 0 || compared.get('_id') === 'equal') return 'served';
    return found.some((key) => serves(key, compared, sort)) ? 'served' : 'sorts';
  });
  return verdicts.find((one) => one !== 'served') ?? 'served';
}

/** True if the index has the order, behind fields with equal values. */
function serves(key: Key, compared: Comparisons, sort: QueryShape['sort']): boolean {
  const isEqual = (field: string): boolean => compared.get(field) === 'equal';
  const rest = sort.filter(([field]) => !isEqual(field));
  let at = 0;
  let turned: number | undefined;
  for (const [field, direction] of key) {
    const wanted = rest[at];
    if (!wanted) return true;
    if (wanted[0] === field) {
      turned ??= wanted[1] * direction;
      if (wanted[1] * direction !== turned) return false;
      at += 1;
    } else if (!isEqual(field)) return false;
  }
  return at === rest.length;
}

/** The comparisons of each alternative; one without `$or`. */
function branchesOf(filter: Record<string, Json>): Comparisons[] {
  let branches: Comparisons[] = [new Map()];
  for (const [name, value] of Object.entries(filter)) {
    if (name === '$and') {
      for (const one of listOf(value)) branches = product(branches, branchesOf(one));
    } else if (name === '$or') {
      const alternatives = listOf(value).flatMap(branchesOf);
      // Where the rest of the filter has an index of its own, the alternatives only filter.
      branches = product(branches, alternatives);
    } else if (!name.startsWith('$')) {
      const found = comparisonsOf(name, value);
      branches = branches.map((branch) => new Map([...branch, ...found]));
    }
  }
  return branches;
}

const listOf = (value: Json): Array<Record<string, Json>> => value as Array<Record<string, Json>>;

const product = (ones: Comparisons[], others: Comparisons[]): Comparisons[] =>
  ones.flatMap((one) => others.map((other) => new Map([...other, ...one])));

function comparisonsOf(field: string, value: Json): Comparisons {
  const operators = value !== null && typeof value === 'object' && !Array.isArray(value);
  if (!operators) return new Map([[field, 'equal']]);
  const found: Comparisons = new Map();
  for (const [operator, given] of Object.entries(value)) {
    if (EQUAL.has(operator)) found.set(field, 'equal');
    else if (RANGE.has(operator) && found.get(field) !== 'equal') found.set(field, 'range');
    // Documents without the field are together in the index; those with it are a range.
    else if (operator === '$exists') found.set(field, given === false ? 'equal' : 'range');
    else if (operator === '$elemMatch' && given !== null && typeof given === 'object') {
      for (const [inner, of] of Object.entries(given)) {
        if (inner.startsWith('$')) continue;
        for (const [name, how] of comparisonsOf(`${field}.${inner}`, of)) found.set(name, how);
      }
    }
  }
  return found;
}
