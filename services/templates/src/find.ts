// One template, for the check of a message before it is sent. Status and category come from the
// record, which events keep up to date; the content comes from the upstream and is cached.
import { LRUCache } from '@bmg/common/cache';
import { statusAfter } from '@bmg/common/preflight';
import type { Call } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import { needTarget } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { FindTemplateRequest, FindTemplateResponse } from '@bmg/proto/templates';
import { templatesNamed, type Access, type ListedTemplate } from './list';
import { factOf, type TemplateStore } from './store';

export interface Shared extends Access {
  store: TemplateStore;
  record: (write: Promise<void>) => Promise<void>;
  since: () => Date;
  log: Logger;
}

/** Answers do not wait longer for the records, which may lag behind. */
export const RECORD_TIMEOUT_MS = 1_000;
/** No event announces a change of the content. */
const CACHED_MS = 60_000;
/** A name that does not exist may be created at any time. */
const ABSENT_MS = 5_000;
const CACHED_MAX = 2_000;

export function createTemplateFinder(deps: Shared) {
  const { store, record, since, log } = deps;
  const cache = new LRUCache<string, Promise<ListedTemplate[]>>({
    max: CACHED_MAX,
    ttl: CACHED_MS,
  });
  const keyOf = (waba_id: string, name: string): string => `${waba_id}/${name}`;

  const ask = async (target: Target, name: string, call: Call): Promise<ListedTemplate[]> => {
    const at = since();
    const named = await templatesNamed(deps, target, name, call);
    const facts = named.flatMap((template) => factOf(target.waba_id, template) ?? []);
    await record(store.learn(facts, at));
    return named;
  };

  const languagesOf = (target: Target, name: string, call: Call): Promise<ListedTemplate[]> => {
    const key = keyOf(target.waba_id, name);
    const cached = cache.get(key);
    if (cached) return cached;
    const asked = ask(target, name, call);
    cache.set(key, asked);
    asked.then(
      (named) => named.length === 0 && cache.set(key, asked, { ttl: ABSENT_MS }),
      () => cache.delete(key),
    );
    return asked;
  };

  return {
    /** Drops the cached content of a name that this service has just changed. */
    forget: (waba_id: string, name: string): void => void cache.delete(keyOf(waba_id, name)),
    async find(request: FindTemplateRequest, call: Call): Promise<FindTemplateResponse> {
      const target = needTarget(request.target);
      const named = await languagesOf(target, request.name, call);
      const languages = named.map(({ language }) => String(language));
      const listed = named.find(({ language }) => language === request.language);
      if (!listed) return { languages };
      const known = await store
        .find(target.waba_id, request.name, request.language)
        .catch((error: unknown) => {
          log.warn({ err: error }, 'failed to read a template record');
          return null;
        });
      const category = known?.category ?? String(listed.category);
      return {
        languages,
        template: {
          id: listed.id,
          // A record of an earlier release may hold the name of an event.
          status: statusAfter(known?.status ?? '') || String(listed.status),
          category,
          first_category: known?.first_category ?? category,
          category_since: known?.known_at?.category,
          components: listed.components as Record<string, unknown>[],
        },
      };
    },
  };
}
