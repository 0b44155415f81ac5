import { parseFields, selectFields } from './fields';
import { page } from './paging';

const rules = {
  node_type: 'Thing',
  defaults: ['id', 'name'],
  known: ['size', 'owner'],
  denied: ['secret'],
};
const node = { id: '1', name: 'a', size: 3, owner: { id: '2' }, secret: 'x' };
const query = (text: string) => new URLSearchParams(text);

describe('field selection', () => {
  it('returns the defaults without fields, and always the id', () => {
    expect(selectFields(node, query(''), rules)).toEqual({ id: '1', name: 'a' });
    expect(selectFields(node, query('fields=size'), rules)).toEqual({ id: '1', size: 3 });
  });

  it('refuses the whole request for one unknown or one forbidden field', () => {
    expect(() => selectFields(node, query('fields=size,nope'), rules)).toThrow('nonexisting field');
    expect(() => selectFields(node, query('fields=size,secret'), rules)).toThrow('permission');
  });

  it('understands nested braces and modifiers', () => {
    expect(parseFields('a,b{c,d{e}},f.format(PNG),g.start(1).phone_numbers([])')).toEqual([
      { name: 'a', args: {} },
      { name: 'b', args: {} },
      { name: 'f', args: { format: 'PNG' } },
      { name: 'g', args: { start: '1', phone_numbers: '[]' } },
    ]);
  });
});

describe('cursor paging', () => {
  const items = Array.from({ length: 7 }, (_, index) => `k${index}`);
  const turn = (text: string, list = items) =>
    page(list, (item) => item, { query: query(text), url: 'http://x/list' }, { size_max: 3 });
  const cursor = (side: 'after' | 'before', shown: ReturnType<typeof turn>) =>
    (shown.paging?.['cursors'] as Record<string, string>)[side] as string;

  it('pages forward to a last page without next', () => {
    const first = turn('limit=3');
    const second = turn(`limit=3&after=${cursor('after', first)}`);
    const third = turn(`limit=3&after=${cursor('after', second)}`);
    expect([first, second, third].flatMap(({ items: shown }) => shown)).toEqual(items);
    expect(first.paging?.['next']).toContain('after=');
    expect(third.paging?.['next']).toBeUndefined();
    expect(third.paging?.['previous']).toContain('before=');
  });

  it('pages backward', () => {
    const first = turn('limit=3');
    const second = turn(`limit=3&after=${cursor('after', first)}`);
    expect(turn(`limit=3&before=${cursor('before', second)}`).items).toEqual(first.items);
  });

  it('continues after an element that has been deleted', () => {
    const first = turn('limit=3');
    const shorter = items.filter((item) => item !== 'k2');
    expect(turn(`limit=3&after=${cursor('after', first)}`, shorter).items[0]).toBe('k3');
  });

  it('lowers a limit that is too large and refuses an invalid one', () => {
    expect(turn('limit=50').items).toHaveLength(3);
    expect(() => turn('limit=0')).toThrow('positive integer');
    expect(() => turn('after=rubbish')).toThrow('Invalid cursor');
  });

  it('has no paging object for an empty list', () => {
    expect(turn('', []).paging).toBeNull();
  });
});
