// What the request log keeps of bodies: every documented example, and hostile ones.
import fc from 'fast-check';
import { endpoints } from '../endpoints';
import { JsonText } from '../endpoints/parts/json-text';
import { exampleOf } from '../openapi/example';
import { shownPaths } from './allowed';
import { recordOf } from './bodies';

/** 4 KiB, the last value, and what closes the text. */
const BYTES_MAX = 4_096 + 700;

const recorded = (body: object, top = 'messages'): any => JSON.parse(recordOf(body, top));

test('keeps the structure of a send, its template and its kinds, and no text or number', () => {
  const body = {
    to: '15550100777',
    template: {
      name: 'order_update',
      language: 'en_US',
      components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
    },
    context_message_id: 'wamid.HBgLMTU1NTAxMDA3NzcVAgARGBI',
    preview_url: true,
  };
  expect(recorded(body)).toEqual({
    to: '… (11 characters)',
    template: {
      name: 'order_update',
      language: 'en_US',
      components: [{ type: 'body', parameters: [{ type: 'text', text: '… (3 characters)' }] }],
    },
    context_message_id: body.context_message_id,
    preview_url: true,
  });
});

test('keeps the code of an error and the fields that it names, and not its message', () => {
  const error = {
    code: 'MISSING_FIELDS',
    message: 'missing required fields: text',
    details: { fields: ['text', 'contacts[3].recipient'], field: '15550100777' },
    retryable: false,
    upstream_code: 132_001,
  };
  expect(recorded({ success: false, error })).toEqual({
    success: false,
    error: {
      ...error,
      message: '… (29 characters)',
      details: { ...error.details, field: '… (11 characters)' },
    },
  });
});

test('keeps times and figures, and neither PINs, codes nor places', () => {
  const body = {
    created_at: new Date(0),
    sent_at: '2026-09-01T12:00:00.000Z',
    limit: 50,
    nothing: null,
    pin: 123_456,
    code: 123_456,
    latitude: 52.5,
    otp: 123_456,
    text: '2026-09-01',
  };
  expect(recorded(body)).toEqual({
    created_at: '1970-01-01T00:00:00.000Z',
    sent_at: '2026-09-01T12:00:00.000Z',
    limit: 50,
    nothing: null,
    ...{ pin: '… (a number)', code: '… (a number)', latitude: '… (a number)' },
    ...{ otp: '… (a number)', text: '… (10 characters)' },
  });
});

test('keeps the name of a template only', () => {
  expect(recorded({ name: 'order_update' }, 'templates')).toEqual({ name: 'order_update' });
  expect(recorded({ name: 'order_update' }, 'keys')).toEqual({ name: '… (12 characters)' });
});

test('replaces bytes and serialised events', () => {
  const body = { data: Buffer.from('secret'), event: new JsonText('{"text":"secret"}') };
  expect(recorded(body)).toEqual({ data: '… (6 bytes)', event: '… (17 characters)' });
});

/** Each is a text, an address, a secret or a person's number, wherever it stands. */
const HOSTILE = [
  'Hello Ada, your code is 4711',
  '15550100777',
  '+15550100777',
  'https://example.com/a/b?c=d',
  'ada@example.com',
  'bmgk_4Zt8Qm2Vx7Kd9Wn3',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  `EAA${'x'.repeat(50)}`,
  'Zoë',
  15_550_100_777n,
];

/** The body once for each of its leaves, with a hostile value there. */
function* withHostile(value: unknown, hostile: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) {
    yield hostile;
    return;
  }
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      for (const one of withHostile(item, hostile)) yield value.toSpliced(at, 1, one);
    }
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    for (const one of withHostile(member, hostile)) yield { ...value, [key]: one };
  }
}

const topOf = (path: string): string => path.split('/')[1] ?? '';

const DOCUMENTED = endpoints.flatMap(({ verb, path, example, answer }) => [
  ...(example ? [[`body of ${verb} ${path}`, topOf(path), example] as const] : []),
  ...(answer
    ? [[`answer of ${verb} ${path}`, topOf(path), exampleOf(answer) as object] as const]
    : []),
]);

test.each(DOCUMENTED)(
  'the %s hides what is hostile in any of its fields',
  (_name, top, example) => {
    for (const hostile of HOSTILE) {
      for (const body of withHostile(example, hostile)) {
        const text = recordOf(body as object, top);
        expect(text).not.toContain(String(hostile));
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BYTES_MAX);
      }
    }
  },
);

/** Fields of the examples that hold what a person wrote, an address or a secret. */
const PERSONAL =
  /^(to|text|caption|emoji|recipient|wa_id|user_id|phone|phones|contact|email|first_name|formatted_name|title|body_text|access_token|secret|webhook_secret|url|link|webhook_url|connect_url|timeline_url|address|message|description|display_name|subject|pin)$/;

/** The end of a period is called `to` as well. */
const DAY = /^\d{4}-\d\d-\d\d/;

function* personalOf(value: unknown, key = ''): Generator<string> {
  if (typeof value === 'string' && PERSONAL.test(key) && !DAY.test(value)) yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    yield* personalOf(member, Array.isArray(value) ? key : name);
  }
}

test.each(DOCUMENTED)('the %s keeps no personal value of its example', (_name, top, example) => {
  const kept = new Set(leavesOf(JSON.parse(recordOf(example, top))));
  expect([...personalOf(example)].filter((text) => kept.has(text))).toEqual([]);
});

const leavesOf = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

test('is bounded in depth, keys, items and bytes, and says what is cut', () => {
  const wide = Object.fromEntries(Array.from({ length: 60 }, (_none, at) => [`k${at}`, true]));
  expect(recorded(wide)['…']).toBe('… (10 more, cut)');
  expect(recorded({ rows: Array(1_000).fill(true) }).rows.at(-1)).toBe('… (980 more)');
  const deep = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) as object;
  expect(recordOf(deep, '')).toContain('nested deeper');
  const long = { a: Array(20).fill(wide), b: Array(20).fill(wide) };
  expect(Buffer.byteLength(recordOf(long, ''))).toBeLessThanOrEqual(BYTES_MAX);
});

test('any JSON becomes bounded JSON without its texts', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
      const text = recordOf(body, 'messages');
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BYTES_MAX);
      const texts = leavesOf(JSON.parse(text)).filter((leaf) => typeof leaf === 'string');
      expect(texts.filter((leaf) => !/^… \(/.test(leaf))).toEqual([]);
    }),
  );
});

test.each([
  '15550100777',
  'x'.repeat(49),
  'ada@example.com',
  'bmgk_4Zt8',
  'two words',
  '__proto__',
])('a key such as %s is not shown, unless it is a name', (key) => {
  const body = JSON.parse(`{${JSON.stringify(key)}:true}`) as object;
  const shown = Object.keys(recorded(body));
  expect(shown).toEqual([key === '__proto__' ? key : `… (${key.length} characters)`]);
  expect(({} as Record<string, unknown>)['true']).toBeUndefined();
});

test('ignored keys that look like numbers or secrets are not named', () => {
  expect(shownPaths('page, 15550100777, a.bmgk_4')).toBe('page, …, a.bmgk_4');
});
