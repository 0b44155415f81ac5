// Template events → the template record.
import type { Received } from '@bmg/common/bus';
import type { Event } from '@bmg/proto/stream';
import type { TemplateChange, TemplateStore } from './store/templates';

type Data = Record<string, unknown>;

/** What each event says; undefined where it is not worth keeping. */
const READERS: ReadonlyMap<string, (data: Data) => Data | undefined> = new Map<
  string,
  (data: Data) => Data | undefined
>([
  ['template.status_updated', ({ status, reason }) => ({ status, reason: reason ?? null })],
  ['template.quality_updated', ({ new_quality }) => ({ quality: new_quality })],
  [
    'template.category_updated',
    // One that is only announced has not happened yet.
    ({ new_category, announced }) => (announced === true ? undefined : { category: new_category }),
  ],
]);

/** Handles a batch of events in order; those that say nothing of a template are passed over. */
export const applyTemplateEvents =
  (store: Pick<TemplateStore, 'apply'>) =>
  async (batch: Received<Event>[]): Promise<void> =>
    store.apply(batch.flatMap(({ message }) => changeOf(message) ?? []));

function changeOf({ event, waba_id, timestamp, data }: Event): TemplateChange | undefined {
  const read = READERS.get(event);
  if (!read) return undefined;
  const said = JSON.parse(data) as Data;
  const fields = read(said);
  const { template_id, template_name, template_language } = said;
  // Without its id a template cannot be told from its namesakes in other languages.
  if (!fields || typeof template_id !== 'string' || waba_id === '') return undefined;
  return {
    waba_id,
    template_id,
    ...(typeof template_name === 'string' && { name: template_name }),
    ...(typeof template_language === 'string' && { language: template_language }),
    fields,
    at: new Date(timestamp * 1_000),
  };
}
