// The AsyncAPI document is valid by the specification's own parser, and has every event of the
// OpenAPI document.
import { Parser } from '@asyncapi/parser';
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';
import { buildAsyncApi } from '../../gateway/src/openapi/asyncapi';

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.net' });
const events = buildAsyncApi(document);
const names = Object.keys(document.webhooks).sort();

/** What the parser finds, but for hints that a newer version of AsyncAPI exists. */
async function read(text: string) {
  const { document: parsed, diagnostics } = await new Parser().parse(text);
  const problems = diagnostics
    .filter(({ code }) => code !== 'asyncapi-latest-version')
    .map(({ code, path, message }) => [code, path.join('/'), message].join(' '));
  return { parsed, problems };
}

let reading: ReturnType<typeof read>;
beforeAll(() => {
  reading = read(JSON.stringify(events));
});

test('the parser finds no problem', async () => {
  const { parsed, problems } = await reading;
  expect(problems).toEqual([]);
  expect(parsed?.version()).toBe('3.0.0');
});

test('the parser finds the problems of a broken document', async () => {
  const { webhooks } = document;
  const [name, item] = Object.entries(webhooks)[0] ?? [];
  if (name === undefined || !item) throw new Error('there is no event');
  const broken = buildAsyncApi({ ...document, webhooks: { [name]: item } });
  delete broken.channels[name];
  const { problems } = await read(JSON.stringify(broken));
  expect(problems.join('\n')).toContain(name);
});

test('every event has a channel, an operation that receives, and a message', async () => {
  const { parsed } = await reading;
  const operations = parsed?.operations().all() ?? [];
  expect(operations.map((one) => one.channels().all()[0]?.id()).sort()).toEqual(names);
  expect(parsed?.servers().all()).toHaveLength(1);
  for (const operation of operations) {
    expect(operation.action()).toBe('receive');
    const [message] = operation.messages().all();
    const name = message?.name() ?? '';
    const content = document.webhooks[name]?.post.requestBody.content['application/json'];
    expect(Object.keys(message?.headers()?.properties() ?? {}).sort()).toEqual([
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
      'x-service-signature',
    ]);
    expect(message?.payload()?.properties()).toHaveProperty('data');
    expect(message?.examples().all()[0]?.payload()).toEqual(content?.example);
  }
});
