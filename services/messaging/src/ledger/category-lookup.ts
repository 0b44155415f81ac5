// The categories of templates, as the templates service knows them. Cached for a minute: a ledger
// names few templates many times.
import { LRUCache } from '@bmg/common/cache';
import { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { ListCategoriesResponse, TemplatesDefinition } from '@bmg/proto/templates';
import type { TemplateCategory } from './entry';

type Categories = ReadonlyMap<string, TemplateCategory>;
export type ChangedTemplate = TemplateCategory & { name: string; language: string };

const CACHED_MS = 60_000;
const CACHED_MAX = 5_000;
const FIND_LIMIT_MS = 5_000;

export const nameOf = ({ name, language }: { name: string; language: string }): string =>
  `${name}/${language}`;

export function createCategoryLookup(
  templates: Pick<Client<TemplatesDefinition>, 'listCategories'> | undefined,
  log: Logger,
) {
  const cache = new LRUCache<string, ChangedTemplate[]>({ max: CACHED_MAX, ttl: CACHED_MS });

  /** The ledger lacks only the requested categories if there is no templates service. */
  const ask = async (waba_id: string, names: string[], call: Call): Promise<ChangedTemplate[]> => {
    if (!templates) return [];
    try {
      const deadline = Math.min(call.deadline, Date.now() + FIND_LIMIT_MS);
      const answer = await templates.listCategories({ waba_id, names }, { ...call, deadline });
      return answer.templates.map(readTemplate);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn({ err: error }, 'failed to read template categories');
      return [];
    }
  };

  return {
    /** Keyed by `nameOf`. Unknown templates are left out. */
    async find(waba_id: string, names: readonly string[], call: Call): Promise<Categories> {
      const key = (name: string): string => `${waba_id}/${name}`;
      const found = new Map(names.map((name) => [name, cache.get(key(name))]));
      const missing = names.filter((name) => found.get(name) === undefined);
      if (missing.length > 0) {
        const asked = await ask(waba_id, missing, call);
        for (const name of missing) {
          const languages = asked.filter((one) => one.name === name);
          if (languages.length > 0) cache.set(key(name), languages);
          found.set(name, languages);
        }
      }
      return new Map(
        [...found.values()].flatMap((all = []) => all.map((one) => [nameOf(one), one])),
      );
    },
    /** The templates of an account whose category has changed. */
    changed: (waba_id: string, call: Call): Promise<ChangedTemplate[]> => ask(waba_id, [], call),
  };
}

export type CategoryLookup = ReturnType<typeof createCategoryLookup>;

/** Pricing spells categories in lower case. */
const readTemplate = (template: ListCategoriesResponse['templates'][number]): ChangedTemplate => ({
  ...template,
  first_category: template.first_category.toLowerCase(),
  category: template.category.toLowerCase(),
  since: template.since?.toISOString() ?? null,
});
