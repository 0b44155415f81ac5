import { apiOf, ONE, startWorld, type Any, type Api, type World } from './test-support';

let world: World;
let api: Api;
beforeAll(async () => {
  world = await startWorld();
  api = apiOf(world.emulator, ONE.token);
});
afterAll(() => world.close());

describe('the account node', () => {
  it('refuses the request for one field that is not permitted or does not exist', async () => {
    const denied = await api('GET', `/${ONE.waba}?fields=name,primary_funding_id`);
    expect(denied.status).toBe(403);
    expect(denied.body.error.code).toBe(10);
    expect((await api('GET', `/${ONE.waba}?fields=name,colour`)).body.error.code).toBe(100);
  });
});

describe('the lists of an account', () => {
  it('require the business for the assigned users', async () => {
    expect((await api('GET', `/${ONE.waba}/assigned_users`)).body.error.code).toBe(100);
    const { body } = await api(
      'GET',
      `/${ONE.waba}/assigned_users?business=600000000000001&fields=id,name,business,user_type,tasks`,
    );
    expect(body.data).toHaveLength(2);
    expect(body.summary.total_count).toBe(2);
  });
});

describe('templates', () => {
  const create = (more: Any = {}) =>
    api('POST', `/${ONE.waba}/message_templates`, {
      name: `made_${Math.random().toString(36).slice(2)}`,
      language: 'en_US',
      category: 'UTILITY',
      components: [{ type: 'BODY', text: 'Hi {{1}}, bye.', example: { body_text: [['Ada']] } }],
      ...more,
    });

  it.each<[string, Any]>([
    ['upper case in the name', { name: 'Mine' }],
    ['no language', { language: undefined }],
    ['an unknown category', { category: 'FUN' }],
    ['no components', { components: [] }],
    ['no body', { components: [{ type: 'FOOTER', text: 'x' }] }],
    ['a variable without an example', { components: [{ type: 'BODY', text: 'Hi {{1}}, bye.' }] }],
    [
      'a variable at the end',
      { components: [{ type: 'BODY', text: 'Hi {{1}}', example: { body_text: [['a']] } }] },
    ],
    [
      'names in a positional one',
      { components: [{ type: 'BODY', text: 'Hi {{a}}, bye.', example: { body_text: [['a']] } }] },
    ],
    [
      'a header without a handle',
      {
        components: [
          { type: 'HEADER', format: 'IMAGE' },
          { type: 'BODY', text: 'x' },
        ],
      },
    ],
    ['a body that is too long', { components: [{ type: 'BODY', text: 'x'.repeat(1025) }] }],
  ])('are refused for %s', async (_why, more) => {
    expect((await create(more)).body.error.code).toBe(100);
  });
});
