// Template records: one document per template, from lists, creations and events. Each field has the
// time at which it was true, so that late information never overwrites newer information.
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { REQUEST_CLAIMS, requestClaimIndexes } from '@bmg/common/idempotency';
import { upsert, type Indexes } from '@bmg/common/mongo';
import type { FilterRow } from '@bmg/common/purge';

/** The fields that can change after the creation. */
type TemplateField = 'status' | 'category' | 'quality' | 'reason';

export interface TemplateRecord {
  _id: string;
  waba_id: string;
  template_id: string;
  name?: string;
  language?: string;
  status?: string;
  category?: string;
  quality?: string;
  reason?: string | null;
  /** The category that the template was created with, or first seen with. */
  first_category?: string;
  /** Since when each field is known to hold. */
  known_at?: Partial<Record<TemplateField, Date>>;
}

/** A template as in a list or in the answer to a creation. */
export interface TemplateFact {
  waba_id: string;
  template_id: string;
  name: string;
  language: string;
  status: string;
  category: string;
  /** The category that the partner requested. Defaults to `category`. */
  first_category?: string;
}

export interface TemplateChange {
  waba_id: string;
  template_id: string;
  name?: string;
  language?: string;
  fields: Partial<Record<TemplateField, unknown>>;
  /** Recorded unless an earlier one is known. */
  first_category?: string | undefined;
  at: Date;
}

/** Bounds the read; an account has at most 6,000 templates. */
const TEMPLATES_MAX = 10_000;

const idOf = ({ waba_id, template_id }: { waba_id: string; template_id: string }): string =>
  `${waba_id}/${template_id}`;

const TEMPLATES = 'templates';
export const indexes: Indexes = {
  [TEMPLATES]: [{ key: { waba_id: 1, name: 1, language: 1 } }],
  [REQUEST_CLAIMS]: requestClaimIndexes,
};
export const purgeRows: FilterRow[] = [
  { collection: TEMPLATES, of: 'account', filter: ({ waba_id }) => ({ waba_id }) },
];

/** Undefined if the node lacks a field. */
export function factOf(waba_id: string, node: object): TemplateFact | undefined {
  const { id, name, language, status, category } = node as Record<string, unknown>;
  const fact = { template_id: id, name, language, status, category };
  const is_whole = Object.values(fact).every((text) => typeof text === 'string' && text !== '');
  return is_whole ? { waba_id, ...(fact as Omit<TemplateFact, 'waba_id'>) } : undefined;
}

export function createTemplateStore(db: Db) {
  const templates: Collection<TemplateRecord> = db.collection(TEMPLATES);
  const apply = async (changes: TemplateChange[]): Promise<void> => {
    if (changes.length === 0) return;
    const operations = changes.flatMap(operationsOf);
    // Where another process created one of the documents first, that ended the ordered write.
    await upsert(() => templates.bulkWrite(operations, { ordered: true }));
  };
  const learn = (facts: TemplateFact[], at: Date): Promise<void> =>
    apply(
      facts.map(({ status, category, first_category = category, ...template }) => ({
        ...template,
        fields: { status, category },
        first_category,
        at,
      })),
    );
  return {
    apply,
    learn,
    /** Writes the listed templates that differ; a complete list also deletes those it lacks. */
    async learnAll(
      waba_id: string,
      facts: TemplateFact[],
      { at, complete }: { at: Date; complete: boolean },
    ): Promise<void> {
      const known = await templates.find({ waba_id }).limit(TEMPLATES_MAX).toArray();
      const byId = new Map(known.map((record) => [record.template_id, record]));
      await learn(
        facts.filter((fact) => !saysTheSame(byId.get(fact.template_id), fact)),
        at,
      );
      if (!complete) return;
      const listed = new Set(facts.map(({ template_id }) => template_id));
      const gone = known.filter(
        ({ template_id, known_at }) => !listed.has(template_id) && isOlder(known_at, at),
      );
      if (gone.length === 0) return;
      await templates.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } });
    },
    /** Deletes the template in one language, or in every one. */
    async remove(waba_id: string, name: string, language?: string): Promise<void> {
      await templates.deleteMany({ waba_id, name, ...(language !== undefined && { language }) });
    },
    has: async (waba_id: string, template_id: string): Promise<boolean> =>
      (await templates.findOne({ _id: idOf({ waba_id, template_id }) })) !== null,
    find: (waba_id: string, name: string, language: string): Promise<TemplateRecord | null> =>
      templates.findOne({ waba_id, name, language }),
    /** The templates of these names; without names those whose category differs from the first. */
    async categories(waba_id: string, names: readonly string[]): Promise<TemplateRecord[]> {
      const filter = names.length > 0 ? { waba_id, name: { $in: [...names] } } : { waba_id };
      const found = await templates.find(filter).limit(TEMPLATES_MAX).toArray();
      return names.length > 0
        ? found
        : found.filter(({ category, first_category = category }) => category !== first_category);
    },
  };
}

export type TemplateStore = ReturnType<typeof createTemplateStore>;

const saysTheSame = (record: TemplateRecord | undefined, fact: TemplateFact): boolean =>
  record !== undefined &&
  (['name', 'language', 'status', 'category'] as const).every((key) => record[key] === fact[key]);

/** A template newer than the list may have been created while the list was read. */
const isOlder = (known_at: TemplateRecord['known_at'], at: Date): boolean =>
  Object.values(known_at ?? {}).every((time) => time < at);

/** Creates the document, then sets each field unless a newer value is known. */
function operationsOf({
  fields,
  first_category,
  at,
  ...template
}: TemplateChange): AnyBulkWriteOperation<TemplateRecord>[] {
  const _id = idOf(template);
  const set = (filter: object, $set: object): AnyBulkWriteOperation<TemplateRecord> => ({
    updateOne: { filter: { _id, ...filter }, update: { $set } },
  });
  return [
    { updateOne: { filter: { _id }, update: { $set: template }, upsert: true } },
    ...(first_category === undefined
      ? []
      : [set({ first_category: { $exists: false } }, { first_category })]),
    ...Object.entries(fields).map(([field, value]) =>
      set(
        // Matches a field without a time, too.
        { [`known_at.${field}`]: { $not: { $gt: at } } },
        { [field]: value, [`known_at.${field}`]: at },
      ),
    ),
  ];
}
