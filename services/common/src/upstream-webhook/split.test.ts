import fc from 'fast-check';
import { split } from './split';

const change = (phone_number_id: string, id: string) => ({
  field: 'messages',
  value: { metadata: { phone_number_id }, messages: [{ id }] },
});
const bodyOf = (entry: unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ object: 'whatsapp_business_account', entry }));

test('keeps the bytes of a body that concerns one number', () => {
  const body = Buffer.from(
    '{ "entry":[{"changes":[{"value":{"metadata":{"phone_number_id":"7"}}}]}]}',
  );
  const [part, ...more] = split(body);
  expect(more).toEqual([]);
  expect(part?.key).toBe('7');
  expect(part?.bytes).toBe(body);
});

test('keys a body that names no number by its account', () => {
  expect(split(bodyOf([{ id: '99', changes: [] }]))).toMatchObject([{ key: '99' }]);
});

test('splits a body by number and loses nothing of it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { minLength: 1, maxLength: 30 }),
      (places) => {
        const entries = new Map<string, unknown[]>();
        for (const [index, [account, number]] of places.entries()) {
          const id = `1${account}`;
          const list = entries.get(id) ?? [];
          entries.set(id, [...list, change(`2${number}`, `m${index}`)]);
        }
        const parts = split(bodyOf([...entries].map(([id, changes]) => ({ id, changes }))));
        expect(new Set(parts.map(({ key }) => key)).size).toBe(parts.length);
        const found = parts.flatMap(({ key, bytes }) => {
          const { entry } = JSON.parse(bytes.toString()) as {
            entry: Array<{ changes: Array<ReturnType<typeof change>> }>;
          };
          return entry.flatMap(({ changes }) =>
            changes.map(({ value }) => {
              expect(value.metadata.phone_number_id).toBe(key);
              return value.messages[0]?.id;
            }),
          );
        });
        expect(found.sort()).toEqual(places.map((_unused, index) => `m${index}`).sort());
      },
    ),
  );
});

test('keeps the digits of integers beyond 2^53 when it splits', () => {
  const text = '{"object":"o","entry":[{"id":"1","time":12345678901234567890,"changes":[%]}]}';
  const changes = [change('5', 'a'), change('6', 'b')].map((one) => JSON.stringify(one)).join(',');
  for (const { bytes } of split(Buffer.from(text.replace('%', changes)))) {
    expect(bytes.toString()).toContain('12345678901234567890');
  }
});

test.each([
  ['a body that is not JSON', '"phone_number_id":"1" "phone_number_id":"2"'],
  ['a truncated body', '{"phone_number_id":"1","x":{"phone_number_id":"2"}'],
  ['a body without entries', '{"phone_number_id":"1","x":{"phone_number_id":"2"}}'],
  [
    'entries that are not objects',
    '{"entry":[null,3],"phone_number_id":"1","x":{"phone_number_id":"2"}}',
  ],
  [
    'nesting that is too deep',
    `{"phone_number_id":"1","x":{"phone_number_id":"2"},"entry":[{"changes":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`,
  ],
])('passes on unchanged: %s', (_case, text) => {
  const body = Buffer.from(text);
  expect(split(body)).toEqual([{ key: '', bytes: body }]);
});

test('never throws, whatever the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(split(Buffer.from(bytes))).toHaveLength(1);
    }),
  );
});
