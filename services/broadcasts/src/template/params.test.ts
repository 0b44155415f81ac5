import fc from 'fast-check';
import { createFiller, readParams, type Json } from './params';

const text = (value: string, parameter_name?: string) => ({
  ...(parameter_name !== undefined && { parameter_name }),
  type: 'text',
  text: value,
});
const body = (...parameters: Json[]) => ({ type: 'body', parameters });
const header = (link: string) => ({
  type: 'header',
  parameters: [{ type: 'image', image: { link } }],
});
const fill = (components: Json[], given: Json) => {
  const filler = createFiller(components);
  const params = readParams(given, 'contacts[0].params');
  filler.check(params, 'contacts[0].params');
  return filler.fill(params);
};
const expectRefused = (components: Json[], given: Json, field: unknown): void =>
  expect(() => fill(components, given)).toThrow(
    expect.objectContaining({ code: 'INVALID_FIELD', details: { field } }),
  );

test('numbered params become the body’s parameters in their order', () => {
  expect(fill([], { '2': 'A-17', '1': 'Ada' })).toEqual([body(text('Ada'), text('A-17'))]);
});

test('named params carry their names', () => {
  expect(fill([], { first_name: 'Ada', total: 12.5 })).toEqual([
    body(text('Ada', 'first_name'), text('12.5', 'total')),
  ]);
});

test('params that are integers beyond 2^53 keep every digit', () => {
  const [component] = fill([], { order: 9007199254740993n });
  expect(component).toEqual(body(text('9007199254740993', 'order')));
});

test('without params the components stay unchanged', () => {
  const components = [header('https://example.org/h.jpg')];
  expect(fill(components, {})).toEqual(components);
  expect(fill([], {})).toEqual([]);
});

test('fills placeholders in any text, and does not add their values to the body', () => {
  const components = [
    header('https://example.org/{{3}}.jpg'),
    { type: 'button', sub_type: 'url', index: '0', parameters: [text('order/{{2}}')] },
  ];
  expect(fill(components, { '1': 'Ada', '2': 'A-17', '3': 'h' })).toEqual([
    header('https://example.org/h.jpg'),
    { type: 'button', sub_type: 'url', index: '0', parameters: [text('order/A-17')] },
    body(text('Ada')),
  ]);
});

test('a contact’s param replaces the fixed parameter of the same variable', () => {
  const fixed = [{ type: 'BODY', parameters: [text('Hello'), text('there')] }];
  expect(fill(fixed, { '3': 'Ada' })).toEqual([
    { type: 'BODY', parameters: [text('Hello'), text('there'), text('Ada')] },
  ]);
  expect(fill(fixed, { '2': 'Ada' })).toEqual([
    { type: 'BODY', parameters: [text('Hello'), text('Ada')] },
  ]);
  const named = [body(text('Hello', 'greeting'))];
  expect(fill(named, { greeting: 'Hi', name: 'Ada' })).toEqual([
    body(text('Hi', 'greeting'), text('Ada', 'name')),
  ]);
});

test('a whole parameter can replace a text that is only a placeholder', () => {
  const amount = {
    type: 'currency',
    currency: { fallback_value: '12', code: 'USD', amount_1000: 12_000 },
  };
  expect(fill([body(text('{{total}}', 'total'))], { total: amount })).toEqual([
    body({ parameter_name: 'total', ...amount }),
  ]);
  expect(fill([], { '1': amount })).toEqual([body(amount)]);
  expectRefused([body(text('for {{1}}'))], { '1': amount }, 'contacts[0].params.1');
});

test.each<[string, Json[], Json]>([
  ['a gap in the numbers', [], { '1': 'a', '3': 'c' }],
  ['numbers beside names', [], { '1': 'a', name: 'c' }],
  ['a placeholder without a value', [body(text('{{1}} {{2}}'))], { '1': 'a' }],
  ['a blank value', [], { '1': ' ' }],
  ['null', [], { '1': null }],
  ['a list', [], { '1': ['a'] }],
  ['an object without a type', [], { '1': { text: 'a' } }],
  ['a key that is no variable', [], { 'a b': 'a' }],
  ['a key of the language', [body(text('{{constructor}}'))], { name: 'a' }],
  ['more than fits', [], { '1': 'x'.repeat(40_000) }],
  [
    'too many',
    [],
    Object.fromEntries(Array.from({ length: 101 }, (_, at) => [String(at + 1), 'x'])),
  ],
])('%s is refused, naming the contact', (_what, components, given) =>
  expectRefused(components, given, expect.stringMatching(/^contacts\[0]\.params/)),
);

test('params that pass the check fill as many body parameters as the check returned', () => {
  const key = fc.constantFrom('1', '2', '3', 'name', 'total');
  const params = fc.dictionary(
    key,
    fc.string({ minLength: 1, maxLength: 8 }).filter((one) => one.trim() !== ''),
  );
  const pieces = fc.array(fc.constantFrom('{{1}}', '{{2}}', '{{name}}', 'Hi ', '{{ 3 }}', '$&'), {
    maxLength: 3,
  });
  const components = fc.array(
    fc.record({
      type: fc.constantFrom('body', 'button', 'header'),
      parameters: fc.array(
        pieces.map((list) => text(`x${list.join('')}`)),
        { maxLength: 3 },
      ),
    }),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(components, params, (list, given) => {
      const filler = createFiller(list);
      const read = readParams(given, 'p');
      let expected: number;
      try {
        expected = filler.check(read, 'p');
      } catch {
        return;
      }
      const filled = filler.fill(read);
      const found = filled.find(({ type }) => type === 'body');
      expect((found?.['parameters'] as unknown[] | undefined)?.length ?? 0).toBe(expected);
      // A value may itself read like a placeholder: it is not filled again.
      if (!Object.values(given).join('').includes('{{'))
        expect(JSON.stringify(filled)).not.toMatch(/\{\{\s*[\w.-]+\s*\}\}/);
    }),
  );
});

test('does not modify the given components', () => {
  const components = [body(text('{{1}}'))];
  const before = structuredClone(components);
  fill(components, { '1': 'Ada' });
  fill(components, { '1': 'Bo' });
  expect(components).toEqual(before);
});
