import { verdictOn, type Json, type QueryShape, type Verdict } from './query-plan';

const INDEXES = [
  { key: { partner: 1, at: 1, _id: 1 } },
  { key: { status: 1, partition: 1, at: 1 } },
  { key: { due: 1 }, sparse: true },
  { key: { 'events.id': 1 } },
];

const cases: Array<[name: string, Json, sort: Record<string, 1 | -1>, Verdict]> = [
  ['an ID', { _id: 1 }, {}, 'served'],
  ['a list of IDs in an order', { _id: { $in: 1 }, other: 1 }, { other: 1 }, 'served'],
  ['a range of IDs in their order', { _id: { $gt: 1 } }, { _id: -1 }, 'served'],
  ['a field without an index', { other: 1 }, {}, 'scans'],
  ['a later field of an index', { at: { $gt: 1 } }, {}, 'scans'],
  ['a field that must differ', { status: { $ne: 1 } }, {}, 'scans'],
  ['a range behind an equal value', { partner: 1, at: { $gte: 1 } }, {}, 'served'],
  ['the order of the index', { partner: 1 }, { at: 1, _id: 1 }, 'served'],
  ['the order turned round', { partner: 1 }, { at: -1, _id: -1 }, 'served'],
  ['an order that is turned in part', { partner: 1 }, { at: -1, _id: 1 }, 'sorts'],
  ['an order that leaves a field out', { partner: 1 }, { _id: 1 }, 'sorts'],
  ['an order longer than the index', { status: 1, partition: 1 }, { at: 1, _id: 1 }, 'sorts'],
  ['an order behind a list', { status: 1, partition: { $in: 1 } }, { at: 1 }, 'served'],
  ['an order behind a range', { status: 1, partition: { $gt: 1 } }, { at: 1 }, 'sorts'],
  ['an order by an equal value', { partner: 1, at: 1 }, { partner: 1, _id: 1 }, 'served'],
  ['alternatives with an index each', { $or: [{ due: 1 }, { partner: 1 }] }, {}, 'served'],
  ['an alternative without one', { $or: [{ due: 1 }, { other: 1 }] }, {}, 'scans'],
  ['alternatives behind an index', { partner: 1, $or: [{ a: 1 }, { b: 1 }] }, { at: 1 }, 'served'],
  ['conditions that are joined', { $and: [{ partner: 1 }, { other: 1 }] }, {}, 'served'],
  ['a part of an element', { events: { $elemMatch: { id: 1 } } }, {}, 'served'],
  ['documents without a field', { partner: { $exists: false } }, { at: 1 }, 'served'],
];

it.each(cases)('judges %s', (_name, filter, order, verdict) => {
  const sort: QueryShape['sort'] = Object.entries(order);
  const shape = { database: 'd', collection: 'c', filter, sort, limited: true };
  expect(verdictOn(shape, INDEXES)).toBe(verdict);
});

it('decides on a query for everything by its limit', () => {
  const shape = { database: 'd', collection: 'c', filter: {}, sort: [] };
  expect(verdictOn({ ...shape, limited: true }, INDEXES)).toBe('served');
  expect(verdictOn({ ...shape, limited: false }, INDEXES)).toBe('scans');
});
