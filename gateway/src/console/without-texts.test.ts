// No text of a customer is left in an event, whatever its kind: every golden event is tried.
import { goldenEvents, goldenNames } from '../../../test/testkit/golden-events';
import { endpoints } from '../endpoints';
import type { Fields, Input } from '../endpoints/endpoint';
import { stringify } from '../endpoints/parts/json-text';
import { hidingTexts, withoutWritten } from './without-texts';

const golden = goldenNames.flatMap((name) =>
  goldenEvents<Fields>(name).map((event, at) => [`${name} ${at}`, event] as const),
);

const strings = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strings);
};
/** What people wrote has spaces; names of types and IDs have none. */
const written = (data: Fields): string[] =>
  strings([data['text'], data['raw'], data['value']]).filter((text) => text.includes(' '));

test.each(golden)('%s has no text left, and all else', (_name, event) => {
  const data = (event['data'] ?? {}) as Fields;
  const hidden = JSON.parse(withoutWritten(JSON.stringify(event))) as { data: Fields };
  const left = strings(hidden.data);
  // The name of a contact stays, which the raw message may repeat.
  const kept = new Set(strings({ ...data, text: null, raw: null, value: null }));
  for (const text of written(data)) if (!kept.has(text)) expect(left).not.toContain(text);
  expect(Object.keys(hidden.data)).toEqual(Object.keys(data));
  expect({ ...hidden, data: null }).toEqual({ ...event, data: null });
});

test('texts are among the golden events', () => {
  expect(
    golden.flatMap(([, event]) => written((event['data'] ?? {}) as Fields)).length,
  ).toBeGreaterThan(20);
});

const SECRET = 'Please call me back';
const event = {
  event_id: 'evt_1',
  envelope: JSON.stringify({
    data: { text: SECRET, raw: { message: { text: { body: SECRET } } } },
  }),
};
const input = { query: {}, params: {}, body: {} } as unknown as Input;

test.each([
  ['/events', { events: [event] }],
  ['/events/:event_id', { event, attempts: [] }],
  ['/webhooks/failed', { events: [{ event_id: 'evt_1', payload: event.envelope }] }],
])('the answer of GET %s has no text', (path, reply) => {
  const row = endpoints.find((one) => one.verb === 'GET' && one.path === path);
  const answer = (of: typeof row): string => stringify({ ...of?.reply?.(reply, input) });
  expect(answer(row)).toContain(SECRET);
  expect(answer(row && hidingTexts(row))).not.toContain(SECRET);
  expect(answer(row && hidingTexts(row))).toContain('evt_1');
});

test('no other row of the endpoint table answers with events', () => {
  const documented = endpoints.filter(({ answer = {} }) =>
    /"(envelope|payload)":/.test(JSON.stringify(answer)),
  );
  expect(documented.map(({ path }) => path).sort()).toEqual([
    '/events',
    '/events/:event_id',
    '/webhooks/failed',
  ]);
});
