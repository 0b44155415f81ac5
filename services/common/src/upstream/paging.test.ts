import { type Json, allPages, cursorsOf, eachPage } from './answers';

const page = (ids: number[], after?: string, next = 'https://upstream/?access_token=x'): Json => ({
  data: ids.map((id) => ({ id })),
  paging: { ...(after !== undefined && { cursors: { after }, next }) },
});

/** Answers with the given pages and records the requests. */
function upstreamWith(...pages: Json[]) {
  const asked: unknown[] = [];
  const ask = async (request: unknown): Promise<Json> => {
    asked.push(request);
    return pages[asked.length - 1] ?? page([]);
  };
  return { asked, ask };
}

describe('eachPage', () => {
  test('follows the cursors to the last page', async () => {
    const { asked, ask } = upstreamWith(page([1], 'a'), page([2], 'b'), page([3]));
    const seen: unknown[] = [];
    for await (const { body, next } of eachPage(ask, 10)) seen.push([body['data'], next]);
    expect(seen).toEqual([
      [[{ id: 1 }], 'a'],
      [[{ id: 2 }], 'b'],
      [[{ id: 3 }], undefined],
    ]);
    expect(asked).toEqual([undefined, 'a', 'b']);
  });

  test('stops at a cursor without a next link', async () => {
    const { asked, ask } = upstreamWith(page([1], 'a', ''));
    for await (const { next } of eachPage(ask, 10)) expect(next).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test('stops at a cursor that repeats', async () => {
    const { asked, ask } = upstreamWith(page([1], 'a'), page([2], 'a'), page([3], 'a'));
    for await (const _page of eachPage(ask, 10)) continue;
    expect(asked).toEqual([undefined, 'a']);
  });

  test('requests no more than the given number of pages', async () => {
    const { asked, ask } = upstreamWith(page([1], 'a'), page([2], 'b'), page([3], 'c'));
    for await (const _page of eachPage(ask, 2)) continue;
    expect(asked).toHaveLength(2);
  });
});

describe('allPages', () => {
  test('joins the items and drops the cursor of a complete list', async () => {
    const { asked, ask } = upstreamWith(page([1, 2], 'a'), page([3]));
    expect(await allPages(ask, { page_size: 2, items_max: 10 })).toEqual({
      data: [{ id: 1 }, { id: 2 }, { id: 3 }],
    });
    expect(asked).toEqual([
      { limit: 2, after: undefined },
      { limit: 2, after: 'a' },
    ]);
  });

  test('stops at the limit and returns the cursor of the rest', async () => {
    const { asked, ask } = upstreamWith(page([1, 2], 'a'), page([3], 'b'));
    expect(await allPages(ask, { page_size: 2, items_max: 3 })).toEqual({
      data: [{ id: 1 }, { id: 2 }, { id: 3 }],
      paging: { cursors: { after: 'b' } },
    });
    expect(asked[1]).toEqual({ limit: 1, after: 'a' });
  });
});

test('cursorsOf keeps the cursors and no link', () => {
  expect(cursorsOf({ paging: { cursors: { before: 'b', after: 'a' }, next: 'link' } })).toEqual({
    before: 'b',
    after: 'a',
  });
  expect(cursorsOf({})).toEqual({ before: undefined, after: undefined });
});
