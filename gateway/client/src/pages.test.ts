import { createClient } from '.';

/** A gateway that returns these pages in turn, and records the queries it was sent. */
function gateway(...pages: object[]) {
  const queries: string[] = [];
  const client = createClient({
    base_url: 'https://gateway.test/v1',
    partner_key: 'k',
    attempts_max: 1,
    async fetch(request) {
      queries.push(new URL(request.url).search);
      const page = pages[queries.length - 1] as { status?: number };
      return Response.json(page, { status: page.status ?? 200 });
    },
  });
  return { client, queries };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('pages by offset end with the first page that is not full', async () => {
  const { client, queries } = gateway(
    { clients: [{ waba_id: '1' }, { waba_id: '2' }], limit: 2, offset: 0 },
    { clients: [{ waba_id: '3' }], limit: 2, offset: 2 },
  );
  const clients = await all(client.list('/clients', { params: { query: { limit: 2 } } }));
  expect(clients.map(({ waba_id }) => waba_id)).toEqual(['1', '2', '3']);
  expect(queries).toEqual(['?limit=2', '?limit=2&offset=2']);
});

test('pages by cursor end with the page without one', async () => {
  const cursors = (after: string | null) => ({ paging: { cursors: { before: null, after } } });
  const { client, queries } = gateway(
    { messages: [{ message_id: 'a' }], limit: 1, ...cursors('x') },
    { messages: [], limit: 1, ...cursors('y') },
    { messages: [{ message_id: 'b' }], limit: 1, ...cursors(null) },
  );
  const messages = await all(client.list('/messages', { params: { query: { status: 'read' } } }));
  expect(messages.map(({ message_id }) => message_id)).toEqual(['a', 'b']);
  expect(queries).toEqual(['?status=read', '?status=read&cursor=x', '?status=read&cursor=y']);
});

test('the ledger continues with the next of its page', async () => {
  const { client, queries } = gateway(
    { entries: [{ message_id: 'a' }], limit: 1, next: 'n' },
    { entries: [{ message_id: 'b' }], limit: 1, next: null },
  );
  expect(await all(client.list('/usage/ledger'))).toHaveLength(2);
  expect(queries).toEqual(['', '?after=n']);
});

test('the audit log continues with its cursor', async () => {
  const cursors = (after: string | null) => ({ paging: { cursors: { after } } });
  const { client, queries } = gateway(
    { records: [{ id: 'a' }], limit: 1, ...cursors('x') },
    { records: [{ id: 'b' }], limit: 1, ...cursors(null) },
  );
  expect((await all(client.list('/audit'))).map(({ id }) => id)).toEqual(['a', 'b']);
  expect(queries).toEqual(['', '?cursor=x']);
});

test('an error of the gateway is thrown with its fields', async () => {
  const error = { code: 'INVALID_FIELD', message: 'limit must be a number', retryable: false };
  const { client } = gateway({ status: 400, success: false, error });
  await expect(all(client.list('/broadcasts'))).rejects.toMatchObject(error);
});
