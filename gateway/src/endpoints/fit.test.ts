// The errors of the compiler for a wrong row: `make check-types` fails if one of them is not
// reported.
import { MessagingDefinition } from '@bmg/proto/messaging';
import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import { get, post, put, rpc, variant, type Endpoint, type Variant } from './endpoint';
import { object, text } from './parts/inputs';

const scope = 'number';
const deleteQrCode = rpc(NumberAdminDefinition, 'deleteQrCode');
const createQrCode = rpc(NumberAdminDefinition, 'createQrCode');
const updateQrCode = rpc(NumberAdminDefinition, 'updateQrCode');
const removeParticipants = rpc(NumberAdminDefinition, 'removeGroupParticipants');

const code = text(512);
const prefilled_message = text(100);
const whole = { type: 'integer' } as const;

const coded = object({ code }, ['code']);
const more = object({ code, sent: text(1) }, ['code']);

describe('the compiler accepts', () => {
  test('a row whose schema, path and scope make the request of its RPC', () => {
    const rows: Endpoint[] = [
      post('/qr', deleteQrCode, { scope, body: coded }),
      put('/qr-codes/:code', updateQrCode, { scope, body: object({ prefilled_message }) }),
    ];
    expect(rows).toHaveLength(2);
  });

  test('a field of the RPC that a row names as left out', () => {
    const row: Endpoint = post('/qr-codes', createQrCode, {
      scope,
      body: object({ prefilled_message }),
      omits: ['image_format'],
    });
    expect(row.omits).toEqual(['image_format']);
  });
});

describe('the compiler refuses', () => {
  test('a field of a schema that the RPC does not have', () => {
    // @ts-expect-error the RPC has no field sent
    const row: Endpoint = post('/qr', deleteQrCode, { scope, body: more });
    expect(row).toBeDefined();
  });

  test('a field of the RPC that the schema lacks', () => {
    // @ts-expect-error the row lacks the field image_format
    const row: Endpoint = post('/qr', createQrCode, { scope, body: object({ prefilled_message }) });
    expect(row).toBeDefined();
  });

  test('a field that the RPC takes, but of another type', () => {
    // @ts-expect-error the RPC takes another type of code
    const row: Endpoint = post('/qr', deleteQrCode, { scope, body: object({ code: whole }) });
    // @ts-expect-error the RPC takes another type of code, which may be null
    const orNull: Endpoint = post('/qr', deleteQrCode, {
      scope,
      body: object({ code: { type: ['string', 'null'] } }),
    });
    expect([row, orNull]).toHaveLength(2);
  });

  test('a parameter of the path that the RPC does not have', () => {
    // @ts-expect-error the RPC has no field id
    const row: Endpoint = post('/qr/:id', deleteQrCode, { scope, body: coded });
    expect(row).toBeDefined();
  });

  test('a scope whose fields the RPC does not have', () => {
    // @ts-expect-error the RPC has no field partner_id, and the row lacks the field target
    const row: Endpoint = post('/qr', deleteQrCode, { scope: 'partner', body: coded });
    expect(row).toBeDefined();
  });

  test('a key of a mapping that the RPC does not have, also through a spread and inside a message', () => {
    // @ts-expect-error the RPC has no field sent
    const spread: Endpoint = post('/qr', deleteQrCode, {
      scope,
      body: more,
      request: ({ body, target }) => ({ ...body, target }),
    });
    // @ts-expect-error the RPC has no field target.number
    const nested: Endpoint = post('/qr', deleteQrCode, {
      scope,
      body: coded,
      request: ({ body, target }) => ({ ...body, target: { ...target, number: '8' } }),
    });
    // @ts-expect-error the RPC has no field sent
    const ofVariant: Variant = variant(deleteQrCode, {
      takes: () => true,
      request: ({ target }) => ({ code: 'ABC', sent: 'x', target }),
      reply: () => ({}),
    });
    expect([spread, nested, ofVariant]).toHaveLength(3);
  });

  test('a field of the RPC that a mapping lacks or gives another type', () => {
    // @ts-expect-error the row lacks the field participants
    const lacking: Endpoint = post('/groups/:group_id', removeParticipants, {
      scope,
      request: ({ params, target }) => ({ group_id: params.group_id, target }),
    });
    // @ts-expect-error the RPC takes another type of participants
    const wrong: Endpoint = post('/groups/:group_id', removeParticipants, {
      scope,
      request: ({ params, target }) => ({ ...params, participants: [1], target }),
    });
    expect([lacking, wrong]).toHaveLength(2);
  });

  test('a property that a mapping reads, but the schema or the path lacks', () => {
    const row: Endpoint = post('/qr/:code', deleteQrCode, {
      scope,
      body: object({}),
      request: ({ body, params, target }) => ({
        // @ts-expect-error the schema has no property code
        code: (body.code as string | undefined) ?? params.code,
        // @ts-expect-error the path has no parameter id
        target: params.id === undefined ? target : undefined,
      }),
    });
    expect(row.path).toBe('/qr/:code');
  });

  test('a key that the reply does not have', () => {
    const row: Endpoint = get('/contacts/:phone', rpc(MessagingDefinition, 'lookupContact'), {
      scope,
      // @ts-expect-error the reply has no field found
      status: ({ found }) => (found ? 200 : 404),
      // @ts-expect-error the reply has no field waId
      reply: ({ waId }) => ({ waId }),
    });
    expect(row.path).toBe('/contacts/:phone');
  });
});
