// The AsyncAPI document has every event of the OpenAPI document. The linter checks the structure:
// openapi-lint.documents.test.ts.
import { chapters } from '../../gateway/src/endpoints';
import { buildOpenApi } from '../../gateway/src/openapi';
import { buildAsyncApi } from '../../gateway/src/openapi/asyncapi';

const document = buildOpenApi(chapters, { public_url: 'https://gateway.example.net' });
const { asyncapi, servers, channels, operations, components } = buildAsyncApi(document);

test('every event has a channel, an operation that receives, and a message', () => {
  expect(asyncapi).toBe('3.0.0');
  expect(Object.keys(servers)).toHaveLength(1);
  expect(Object.keys(channels).sort()).toEqual(Object.keys(document.webhooks).sort());
  for (const [name, { post }] of Object.entries(document.webhooks)) {
    expect(operations[post.operationId]).toMatchObject({
      action: 'receive',
      channel: { $ref: `#/channels/${name}` },
      messages: [{ $ref: `#/channels/${name}/messages/${name}` }],
    });
    expect(channels[name]?.['messages']).toEqual({
      [name]: { $ref: `#/components/messages/${name}` },
    });
    expect(components.messages[name]).toMatchObject({
      name,
      payload: { properties: { data: expect.anything() } },
      examples: [{ payload: post.requestBody.content['application/json']?.example }],
    });
  }
});

test('the messages have the headers of a delivery', () => {
  expect(Object.keys(components.schemas['DeliveryHeaders']?.['properties'] ?? {}).sort()).toEqual([
    'webhook-id',
    'webhook-signature',
    'webhook-timestamp',
    'x-service-signature',
  ]);
});
