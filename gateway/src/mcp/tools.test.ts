import { createValidator } from '../../../test/contract/ajv';
import { CONFIRMATION, pathOf, placesOf, readArguments } from './arguments';
import { tools } from './tools';

const toolOf = (name: string) => {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool;
};

test.each(tools.map((tool) => [tool.name, tool] as const))(
  '%s takes the arguments of its row, as an object that every model accepts',
  (_name, { endpoint, listed, sends }) => {
    const { properties, required, ...rest } = listed.inputSchema;
    const names = [...placesOf(endpoint).keys(), ...(sends ? [CONFIRMATION] : [])];
    expect(Object.keys(properties).sort()).toEqual(names.sort());
    expect(required.filter((name) => !names.includes(name))).toEqual([]);
    expect(Object.keys(rest).sort()).toEqual(['additionalProperties', 'type']);
    expect(JSON.stringify(listed)).not.toMatch(/\$ref|"published"|"errorCode"|"lowerTo"/);
    const ajv = createValidator();
    expect([ajv.validateSchema(listed.inputSchema), ajv.errors ?? []]).toEqual([true, []]);
    const described = Object.values(properties).filter(({ properties: inner }) => !inner);
    for (const { description } of described) expect(description).toMatch(/\.$/);
    expect(listed.description).not.toMatch(/undefined|\s{2}|\.\./);
  },
);

test('only tools that read carry readOnlyHint, and those that send need a confirmation', () => {
  for (const { name, endpoint, sends, listed } of tools) {
    const reads = endpoint.verb === 'GET' || name === 'check_message';
    expect([name, listed.annotations['readOnlyHint']]).toEqual([name, reads]);
    const stops = ['pause_broadcast', 'cancel_broadcast'].includes(name);
    expect([name, sends === undefined]).toEqual([name, reads || stops]);
    if (sends) expect(endpoint.idempotent).toBe(true);
  }
});

test('the examples of the rows are accepted as arguments', () => {
  for (const { endpoint, listed, name } of tools) {
    const { example } = endpoint;
    if (!example) continue;
    const ajv = createValidator();
    const given = { waba_id: '900000000000001', ...example };
    const valid = ajv.validate(listed.inputSchema, given);
    expect([name, valid, ajv.errors ?? []]).toEqual([name, true, []]);
    expect(readArguments(endpoint, given).body).toEqual(example);
  }
});

test('each argument goes to its place in the request', () => {
  const timeline = toolOf('get_timeline').endpoint;
  const request = readArguments(timeline, {
    waba_id: '1',
    message_id: 'wamid.a/b?c',
    phone_number_id: '2',
  });
  expect(request).toEqual({
    headers: { 'x-waba-id': '1' },
    params: { message_id: 'wamid.a/b?c' },
    query: { phone_number_id: '2' },
    body: {},
  });
  expect(pathOf(timeline, request)).toBe('/messages/wamid.a%2Fb%3Fc/timeline?phone_number_id=2');
  const sent = readArguments(toolOf('send_text').endpoint, {
    waba_id: '1',
    phone_number_id: 2,
    to: 15550100777,
    text: 'Hi',
    preview_url: undefined,
  });
  expect(sent).toEqual({
    headers: { 'x-waba-id': '1', 'x-phone-number-id': '2' },
    params: {},
    query: {},
    body: { to: '15550100777', text: 'Hi' },
  });
});

test.each([
  [
    'a typo',
    'find_messages',
    { limits: 3 },
    /^limits is not an argument of this tool: did you mean limit\?/,
  ],
  [
    'a long name',
    'find_messages',
    { ['x'.repeat(5_000)]: 3 },
    /^x{2048} is not an argument of this tool$/,
  ],
  ['a list in a query', 'find_messages', { limit: [1] }, /^limit must be a string or a number$/],
  [
    'a long cursor',
    'find_messages',
    { cursor: 'a'.repeat(2_049) },
    /^cursor must have at most 2048 characters$/,
  ],
  [
    'an object in a header',
    'send_text',
    { waba_id: { a: 1 } },
    /^waba_id must be a string or a number$/,
  ],
  [
    'a typo in a check',
    'check_message',
    { kind: 'text', txt: 'Hi' },
    /^txt is not an argument of this tool: did you mean text\?$/,
  ],
  [
    'a typo in a body',
    'send_text',
    { txt: 'Hi' },
    /^txt is not an argument of this tool: did you mean text\?$/,
  ],
  [
    'a path without its parameter',
    'get_timeline',
    { waba_id: '1' },
    /missing required fields: message_id/,
  ],
  ['a blank parameter', 'get_timeline', { message_id: ' ' }, /missing required fields: message_id/],
])('%s is refused', (_fault, name, given, message) => {
  expect(() => readArguments(toolOf(name).endpoint, given)).toThrow(message);
});

test('half of a surrogate pair does not break the path', () => {
  const { endpoint } = toolOf('get_timeline');
  const request = readArguments(endpoint, { message_id: 'a\ud800', phone_number_id: '\udc00' });
  expect(pathOf(endpoint, request)).toMatch(/^\/messages\/a%EF%BF%BD\/timeline\?/);
});
