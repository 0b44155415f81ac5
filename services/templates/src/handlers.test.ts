import { ApiError } from '@bmg/common/errors';
import { createUpstream, type Upstream } from '@bmg/common/upstream';
import { createLogger } from '@bmg/common/telemetry';
import { startEmulator, type Emulator } from '../../../test/emulator';
import { eventually } from '../../../test/testkit/eventually';
import { createTemplatesHandlers } from './handlers';
import type { TemplateFact } from './store';
import { aCall } from '../../../test/testkit/call';

const WABA = '900000000000001';
const OTHER_WABA = '900000000000002';
const TARGET = {
  partner_id: 'par_1',
  waba_id: WABA,
  phone_number_id: '800000000000001',
  directory_version: '',
};
const log = createLogger('test');
log.level = 'silent';

let emulator: Emulator;
let upstream: Upstream;
beforeAll(async () => {
  emulator = await startEmulator({ port: 0 });
  upstream = createUpstream({
    UPSTREAM_URL: emulator.url,
    UPSTREAM_API_VERSION: 'v26.0',
    UPSTREAM_TIMEOUT_MS: 60_000,
  });
});
afterAll(async () => {
  await upstream.stop();
  await emulator.close();
});
beforeEach(() => emulator.reset());

function rig(its_store: 'works' | 'fails' | 'hangs' = 'works', access_token = 'EMULATED-TOKEN-1') {
  const store = {
    learned: [] as TemplateFact[],
    removed: [] as string[],
    listed: undefined as { facts: TemplateFact[]; complete: boolean } | undefined,
  };
  const reached = async (): Promise<void> => {
    if (its_store === 'fails') throw new Error('away');
    if (its_store === 'hangs') await new Promise(() => undefined);
  };
  const rpc = createTemplatesHandlers({
    upstream,
    credentials: { of: async () => ({ access_token }) as never },
    store: {
      apply: async () => undefined,
      find: async () => null,
      categories: async () => [],
      learn: async (facts) => (await reached(), void store.learned.push(...facts)),
      learnAll: async (_waba_id, facts, { complete }) => (
        await reached(),
        void (store.listed = { facts, complete })
      ),
      remove: async (_waba_id, name, language) => (
        await reached(),
        void store.removed.push([name, language].filter(Boolean).join(' '))
      ),
      has: async () => (await reached(), false),
    },
    now: () => new Date(),
    log,
    files: undefined as never,
    transfer: undefined as never,
    app_id: undefined,
  });
  return { rpc, store };
}

const components = [
  { type: 'BODY', text: 'Hi {{1}}, welcome', example: { body_text: [['Ada']] } },
  { type: 'FOOTER', text: 'Bye' },
];
/** The bodies that were sent upstream. */
const posted = async () => (await emulator.requests({ method: 'POST' })).map(({ body }) => body);
const aTemplate = (over: object = {}) => ({
  target: TARGET,
  template: { name: 'greeting_1', language: 'en_US', category: 'UTILITY', components, ...over },
});

describe('the list', () => {
  test('has exactly the contract’s fields', async () => {
    const { rpc, store } = rig();
    const { templates } = await rpc.listTemplates({ target: TARGET }, aCall());
    expect(templates.length).toBeGreaterThan(0);
    for (const template of templates) {
      expect(Object.keys(template).sort().join()).toBe(
        'category,components,id,language,name,status',
      );
      expect(typeof template['id']).toBe('string');
    }
    expect(store.listed).toMatchObject({ complete: true });
    expect(store.listed?.facts).toHaveLength(templates.length);
  });

  test('follows the upstream’s pages to the last one', async () => {
    const serials = Array.from({ length: 120 }, (_unused, serial) => serial);
    const add = (serial: number) =>
      emulator.template({ waba_id: WABA, name: `page_${serial}`, status: 'APPROVED' });
    await Promise.all(serials.map(add));
    const { templates } = await rig().rpc.listTemplates({ target: TARGET }, aCall());
    const added = templates.filter(({ name }) => String(name).startsWith('page_'));
    expect(new Set(added.map(({ id }) => id)).size).toBe(120);
  });

  test('does not need our own record', async () => {
    const { templates } = await rig('fails').rpc.listTemplates({ target: TARGET }, aCall());
    expect(templates.length).toBeGreaterThan(0);
  });
});

describe('a creation', () => {
  test('passes components on and answers the complete template', async () => {
    const { rpc, store } = rig();
    const { fields } = await rpc.createTemplate(aTemplate(), aCall());
    const created = { id: expect.stringMatching(/^\d+$/), status: 'PENDING' };
    expect(fields).toEqual({ ...aTemplate().template, ...created });
    expect(store.learned).toMatchObject([{ name: 'greeting_1', status: 'PENDING' }]);
    const { template } = aTemplate();
    expect(await posted()).toEqual([{ ...template, parameter_format: 'POSITIONAL' }]);
  });

  test('uses named parameters if requested, and passes on further keys', async () => {
    const example = { body_text_named_params: [{ param_name: 'first_name', example: 'Ada' }] };
    const given = {
      parameter_format: 'NAMED',
      components: [{ type: 'BODY', text: 'Hi {{first_name}}, welcome', example }],
      allow_category_change: true,
    };
    await rig().rpc.createTemplate(aTemplate(given), aCall());
    expect(await posted()).toMatchObject([given]);
  });

  test('rejected by the upstream carries the upstream’s explanation', async () => {
    const { rpc } = rig();
    await rpc.createTemplate(aTemplate(), aCall());
    await expect(rpc.createTemplate(aTemplate(), aCall())).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      upstream_code: 100,
      upstream_subcode: 2388024,
      details: expect.stringContaining('There is already'),
    });
  });

  test.each([
    [{ name: ' ', language: undefined }, 'MISSING_FIELDS', { fields: ['name', 'language'] }],
    [{ components: [] }, 'MISSING_FIELDS', { fields: ['components'] }],
    [{ components: 'x' }, 'INVALID_FIELD', { field: 'components' }],
    [{ category: 'OTHER' }, 'INVALID_FIELD', { field: 'category' }],
    [{ parameter_format: 'MIXED' }, 'INVALID_FIELD', { field: 'parameter_format' }],
  ])('with %j is %s', async (over, code, details) => {
    const creating = rig().rpc.createTemplate(aTemplate(over), aCall());
    await expect(creating).rejects.toMatchObject({ code, details });
    expect(await posted()).toEqual([]);
  });

  test('with an unknown outcome answers details.outcome unknown', async () => {
    await emulator.fault({ match: { path: 'message_templates', method: 'POST' }, drop: 'after' });
    await expect(rig().rpc.createTemplate(aTemplate(), aCall())).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      retryable: false,
      details: { outcome: 'unknown' },
    });
  });
});

describe('a deletion', () => {
  const of = { target: TARGET, template_name: 'bye' };

  test('deletes one language if it is named, else every one', async () => {
    const { rpc, store } = rig();
    for (const language of ['en_US', 'ms', 'de']) {
      await emulator.template({ waba_id: WABA, name: 'bye', language, status: 'APPROVED' });
    }
    const left = async () =>
      (await rpc.listTemplates({ target: TARGET }, aCall())).templates
        .filter(({ name }) => name === 'bye')
        .map(({ language }) => language);
    await rpc.deleteTemplate({ ...of, language: 'ms' }, aCall());
    expect((await left()).sort()).toEqual(['de', 'en_US']);
    await expect(rpc.deleteTemplate({ ...of, language: 'ms' }, aCall())).rejects.toMatchObject({
      code: 'INVALID_FIELD',
      details: { field: 'language' },
    });
    await rpc.deleteTemplate(of, aCall());
    expect(await left()).toEqual([]);
    expect(store.removed).toEqual(['bye ms', 'bye']);
  });

  test('of an unknown name answers the upstream’s error', async () => {
    await expect(rig().rpc.deleteTemplate(of, aCall())).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      upstream_code: 100,
    });
  });
});

describe('one template', () => {
  const add = (more: object = {}) =>
    emulator.template({ waba_id: WABA, name: 'news_1', status: 'APPROVED', ...more });
  const of = (template_id: string) => ({ target: TARGET, template_id });
  const changed = [{ type: 'BODY', text: 'Changed.' }];

  test('is shown with its quality and the reason of a rejection', async () => {
    const { rpc, store } = rig();
    const { templates } = await rpc.listTemplates({ target: TARGET }, aCall());
    const rejected = templates.find(({ status }) => status === 'REJECTED');
    const id = String(rejected?.['id']);
    const { fields } = await rpc.getTemplate(of(id), aCall());
    expect(fields).toMatchObject({
      id,
      status: 'REJECTED',
      rejected_reason: 'INVALID_FORMAT',
      quality_score: { score: 'GREEN' },
    });
    expect(store.learned).toMatchObject([{ template_id: id, status: 'REJECTED' }]);
  });

  test.each(['fails', 'hangs'] as const)('is shown with a store that %s', async (its_store) => {
    const { id } = await add();
    expect((await rig(its_store).rpc.getTemplate(of(id), aCall())).fields).toMatchObject({ id });
  });

  test('is changed, and shown as it is afterwards', async () => {
    const { id } = await add();
    const { rpc } = rig();
    const changes = { components: changed, message_send_ttl_seconds: 3_600 };
    const { fields } = await rpc.updateTemplate({ ...of(id), changes }, aCall());
    expect(fields).toMatchObject({ id, status: 'PENDING', ...changes });
    expect(await posted()).toEqual([changes]);
  });

  test.each([
    [{}, 'MISSING_FIELDS', { fields: ['components'] }],
    [{ name: 'other', components: changed }, 'INVALID_FIELD', { field: 'name' }],
    [{ language: 'ms' }, 'INVALID_FIELD', { field: 'language' }],
  ])('is not changed with %j: %s', async (changes, code, details) => {
    const { id } = await add();
    const updating = rig().rpc.updateTemplate({ ...of(id), changes }, aCall());
    await expect(updating).rejects.toMatchObject({ code, details });
    expect(await posted()).toEqual([]);
  });

  test.each([
    ['of another account', () => emulator.template({ waba_id: OTHER_WABA, name: 'their_news' })],
    ['that is a number', async () => ({ id: TARGET.phone_number_id })],
  ])('%s is neither shown nor changed, though the token reaches it', async (_which, make) => {
    const { id } = await make();
    const { rpc } = rig('works', 'EMULATED-TOKEN-SYSTEM');
    const changes = { components: changed };
    await expect(rpc.getTemplate(of(id), aCall())).rejects.toBeInstanceOf(ApiError);
    const updating = rpc.updateTemplate({ ...of(id), changes }, aCall());
    await expect(updating).rejects.toBeInstanceOf(ApiError);
    expect(await posted()).toEqual([]);
  });
});

test('a template of the library is made without components', async () => {
  const { rpc } = rig();
  const query = { target: TARGET, search: 'order', usecase: 'DELIVERY_UPDATE' };
  const { items } = await rpc.listLibraryTemplates(query, aCall());
  expect(items).toMatchObject([{ name: 'delivery_update_1', category: 'UTILITY' }]);
  const library_template_name = 'delivery_update_1';
  const request = aTemplate({ components: undefined, library_template_name });
  const { fields } = await rpc.createTemplate(request, aCall());
  expect(fields).toMatchObject({ name: 'greeting_1', status: 'APPROVED' });
  const id = String(fields?.['id']);
  const shown = await rpc.getTemplate({ target: TARGET, template_id: id }, aCall());
  expect(shown.fields).toMatchObject({ library_template_name });
});

test('the analytics have a point for each template and day', async () => {
  const { id } = await emulator.template({ waba_id: WABA, name: 'news_1', status: 'APPROVED' });
  const { rpc } = rig();
  await upstream.request(
    {
      operation: 'POST /{phone_number_id}/messages',
      method: 'POST',
      path: `/${TARGET.phone_number_id}/messages`,
      token: 'EMULATED-TOKEN-1',
      body: {
        messaging_product: 'whatsapp',
        to: '15550100777',
        type: 'template',
        template: { name: 'news_1', language: { code: 'en_US' } },
      },
    },
    aCall(),
  );
  const request = { target: TARGET, template_ids: id, days: 30 };
  await eventually(async () => {
    const { items } = await rpc.getTemplateAnalytics(request, aCall());
    expect(items).toMatchObject([{ template_id: id, sent: 1 }]);
    return true;
  });
});
