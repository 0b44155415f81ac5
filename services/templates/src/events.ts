// Applies template events to the template records.
import type { Received } from '@bmg/common/bus';
import { languageOf, statusAfter } from '@bmg/common/preflight';
import type { Event } from '@bmg/proto/stream';
import type { TemplateChange, TemplateStore } from './store';

type Data = Record<string, unknown>;

/** The fields each event sets; undefined if it sets none. */
const READERS = new Map<string, (data: Data) => Data | undefined>([
  [
    'template.status_updated',
    ({ status: event, reason }) => {
      const status = statusAfter(String(event));
      return status === undefined ? undefined : { status, reason: reason ?? null };
    },
  ],
  ['template.quality_updated', ({ new_quality }) => ({ quality: new_quality })],
  [
    'template.category_updated',
    // An announced change is not in effect yet.
    ({ new_category, announced }) => (announced === true ? undefined : { category: new_category }),
  ],
]);

/** Returns the handler of event batches. Events that do not concern a template are ignored. */
export const applyTemplateEvents =
  (store: Pick<TemplateStore, 'apply'>) =>
  async (batch: Received<Event>[]): Promise<void> =>
    store.apply(batch.flatMap(({ message }) => changeOf(message) ?? []));

function changeOf({ event, waba_id, timestamp, data }: Event): TemplateChange | undefined {
  const read = READERS.get(event);
  if (!read) return undefined;
  const said = JSON.parse(data) as Data;
  const fields = read(said);
  const { template_id, template_name, template_language, previous_category } = said;
  // The name is ambiguous without the language: every language of a template has the same one.
  if (!fields || typeof template_id !== 'string' || waba_id === '') return undefined;
  return {
    waba_id,
    template_id,
    ...(typeof template_name === 'string' && { name: template_name }),
    ...(typeof template_language === 'string' && { language: languageOf(template_language) }),
    fields,
    ...(typeof previous_category === 'string' && { first_category: previous_category }),
    at: new Date(timestamp * 1_000),
  };
}
