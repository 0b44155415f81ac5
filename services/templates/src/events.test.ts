import type { Received } from '@bmg/common/bus';
import type { Event } from '@bmg/proto/stream';
import { applyTemplateEvents } from './events';
import type { TemplateChange } from './store';

const AT = 1_790_000_000;
const template = {
  template_id: '300000000000001',
  template_name: 'order_update',
  template_language: 'en_US',
};
const about = {
  waba_id: '900000000000001',
  template_id: '300000000000001',
  name: 'order_update',
  language: 'en_US',
  at: new Date(AT * 1_000),
};

async function changes(event: string, data: object): Promise<TemplateChange[]> {
  let applied: TemplateChange[] = [];
  const message = { event, waba_id: about.waba_id, timestamp: AT, data: JSON.stringify(data) };
  const batch = [{ message }] as unknown as Received<Event>[];
  await applyTemplateEvents({ apply: async (all) => void (applied = all) })(batch);
  return applied;
}

test.each([
  [
    'template.status_updated',
    { status: 'REJECTED', reason: 'INVALID_FORMAT' },
    { status: 'REJECTED', reason: 'INVALID_FORMAT' },
  ],
  ['template.status_updated', { status: 'APPROVED' }, { status: 'APPROVED', reason: null }],
  ['template.status_updated', { status: 'REINSTATED' }, { status: 'APPROVED', reason: null }],
  ['template.status_updated', { status: 'UNARCHIVED' }, { status: 'APPROVED', reason: null }],
  [
    'template.quality_updated',
    { previous_quality: 'GREEN', new_quality: 'RED' },
    { quality: 'RED' },
  ],
  ['template.category_updated', { new_category: 'MARKETING' }, { category: 'MARKETING' }],
])('%s with %j sets the right fields', async (event, data, fields) => {
  await expect(changes(event, { ...data, ...template })).resolves.toEqual([{ ...about, fields }]);
});

test.each(['FLAGGED', 'LOCKED'])('%s changes no status', async (status) => {
  await expect(changes('template.status_updated', { status, ...template })).resolves.toEqual([]);
});

test('spells the language of an event as the list of templates does', async () => {
  const data = { status: 'APPROVED', ...template, template_language: 'pt-BR' };
  await expect(changes('template.status_updated', data)).resolves.toMatchObject([
    { language: 'pt_BR' },
  ]);
});

test('ignores a category change that is only announced', async () => {
  const data = { new_category: 'MARKETING', announced: true, ...template };
  await expect(changes('template.category_updated', data)).resolves.toEqual([]);
});

test('ignores an event without a template id', async () => {
  const data = { status: 'APPROVED', template_id: null, template_name: 'order_update' };
  await expect(changes('template.status_updated', data)).resolves.toEqual([]);
});

test('ignores events of other kinds', async () => {
  await expect(changes('message.sent', template)).resolves.toEqual([]);
});
