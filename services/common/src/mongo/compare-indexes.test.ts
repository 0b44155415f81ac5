import { compareIndexes, type StoredIndex } from './indexes';

const ID: StoredIndex = { name: '_id_', key: { _id: 1 } };
const compare = (
  declared: Parameters<typeof compareIndexes>[0],
  ...stored: Array<Omit<StoredIndex, 'name'> & { name?: string }>
) =>
  compareIndexes(declared, {
    letters: [ID, ...stored.map((one) => ({ name: Object.keys(one.key).join('_'), ...one }))],
  }).map((one) => (one.state === 'different' ? [one.state, ...one.options] : [one.state]));

test('finds no difference between an index and its declaration, whatever its name', () => {
  const first = { key: { a: 1, b: -1 }, unique: true };
  const second = { key: { at: 1 }, expireAfterSeconds: 0 };
  const stored = { ...first, name: 'other', sparse: false };
  expect(compare({ letters: [first, second] }, stored, second)).toEqual([]);
});

test.each([
  ['unique', { unique: true }, {}, 'true', ''],
  ['sparse', {}, { sparse: true }, '', 'true'],
  ['expireAfterSeconds', { expireAfterSeconds: 0 }, {}, '0', ''],
  ['expireAfterSeconds', { expireAfterSeconds: 60 }, { expireAfterSeconds: 120 }, '60', '120'],
  ['partialFilterExpression', {}, { partialFilterExpression: { a: 1 } }, '', '{"a":1}'],
])('names a different option with both values: %s', (name, wanted, present, declared, stored) => {
  const key = { at: 1 };
  expect(compare({ letters: [{ key, ...wanted }] }, { key, ...present })).toEqual([
    ['different', { name, declared, stored }],
  ]);
});

test('takes other fields, another order and another direction for another index', () => {
  const letters = [{ key: { a: 1, b: 1 } }];
  const others: Array<Record<string, 1 | -1>> = [{ b: 1, a: 1 }, { a: 1, b: -1 }, { a: 1 }];
  for (const key of others) {
    expect(compare({ letters }, { key })).toEqual([['missing'], ['obsolete']]);
  }
});

test('takes the old one of two indexes on the same fields for obsolete', () => {
  const letters = [{ key: { a: 1 }, unique: true }];
  const stored = [{ key: { a: 1 } }, { key: { a: 1 }, unique: true, name: 'a_1_v2' }];
  expect(compare({ letters }, ...stored)).toEqual([['obsolete']]);
});

test('finds missing indexes of a missing collection, and obsolete ones of an undeclared one', () => {
  expect(compare({ drafts: [{ key: { a: 1 } }] }, { key: { b: 1 } })).toEqual([
    ['missing'],
    ['obsolete'],
  ]);
});
