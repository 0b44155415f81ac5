// The RPCs of the service. Every call queries the upstream; the template records are by-products
// for our own use.
import { missingFields } from '@bmg/common/errors';
import { within } from '@bmg/common/lifecycle';
import type { Call, Handlers } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Credentials } from '@bmg/common/directory';
import {
  createAccountLimits,
  createRunner,
  needTarget,
  segment,
  type Upstream,
} from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { ListCategoriesResponse, TemplatesDefinition } from '@bmg/proto/templates';
import { uploadHeader, type HeaderDependencies } from './header/upload';
import { createTemplate, readTemplate } from './create';
import { createTemplateFinder, RECORD_TIMEOUT_MS, type Shared } from './find';
import { listTemplates } from './list';
import { createListRooms } from './list-room';
import { templateLists } from './lists';
import { createOneTemplate, type OneDependencies, type OneTemplate } from './one';
import { factOf, type TemplateRecord, type TemplateStore } from './store';

interface TemplateDependencies extends HeaderDependencies {
  upstream: Upstream;
  store: TemplateStore;
  credentials: Pick<Credentials, 'of'>;
  now: () => Date;
  log: Logger;
}

const CLOCK_SKEW_MS = 5_000;

export function createTemplatesHandlers(deps: TemplateDependencies): Handlers<TemplatesDefinition> {
  const { upstream, store, credentials, now, log } = deps;
  const shared = {
    upstream,
    store,
    log,
    /** Records may lag behind: no answer waits long for the database, and none fails with it. */
    record: async (write: Promise<void>): Promise<void> =>
      within(RECORD_TIMEOUT_MS, write).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to record templates'),
      ),
    /** Events have the upstream's times, in seconds: one of the same moment must count as newer. */
    since: (): Date => new Date(now().getTime() - CLOCK_SKEW_MS),
    token: async (target: Target, call: Call): Promise<string> =>
      (await credentials.of(target, call)).access_token,
  };
  const finder = createTemplateFinder(shared);
  const runner = createRunner({ upstream, credentials, limits: createAccountLimits(log) });
  const changing = { ...shared, ask: runner.ask, forget: finder.forget };
  const one = createOneTemplate(changing);
  return {
    ...runner.handlers(templateLists(now)),
    ...createListHandlers(shared),
    ...createChangeHandlers({ ...changing, one }),
    getTemplate: one.get,
    updateTemplate: one.update,
    uploadHeader: (request, call) => uploadHeader(deps, request, call),
    findTemplate: finder.find,
  };
}

function createListHandlers(
  shared: Shared,
): Pick<Handlers<TemplatesDefinition>, 'listTemplates' | 'listCategories'> {
  const { store, log, record, since } = shared;
  const rooms = createListRooms(log);
  return {
    async listTemplates(request, call) {
      const target = needTarget(request.target);
      const { partner_id, waba_id } = target;
      const at = since();
      return rooms.hold(partner_id, call, async (room) => {
        const { templates, complete } = await listTemplates(shared, target, call, { room });
        if (!complete) log.warn({ templates: templates.length }, 'truncated template list');
        const facts = templates.flatMap((template) => factOf(waba_id, template) ?? []);
        await record(store.learnAll(waba_id, facts, { at, complete }));
        return { templates };
      });
    },
    async listCategories({ waba_id, names }) {
      const found = await store.categories(waba_id, names);
      return { templates: found.flatMap((template) => categoryOf(template) ?? []) };
    },
  };
}

function createChangeHandlers(
  deps: OneDependencies & { one: OneTemplate },
): Pick<Handlers<TemplatesDefinition>, 'createTemplate' | 'deleteTemplate'> {
  const { upstream, store, record, since, token, one, forget } = deps;
  return {
    async createTemplate(request, call) {
      const target = needTarget(request.target);
      const { waba_id } = target;
      const template = readTemplate(request.template ?? {});
      const at = since();
      const fields = await createTemplate(deps, target, template, call);
      const fact = factOf(waba_id, fields);
      forget(waba_id, String(template.name));
      if (fact) {
        const first_category = String(template.category);
        await record(store.learn([{ ...fact, first_category }], at));
      }
      return { fields };
    },
    async deleteTemplate(request, call) {
      const target = needTarget(request.target);
      const { waba_id } = target;
      const name = request.template_name.trim();
      if (name === '') throw missingFields(['template_name']);
      const { language } = request;
      const hsm_id =
        language === undefined ? undefined : await one.idOf(target, name, language, call);
      await upstream.request(
        {
          operation: 'DELETE /{waba_id}/message_templates',
          method: 'DELETE',
          path: `/${segment(waba_id)}/message_templates`,
          query: { name, hsm_id },
          token: await token(target, call),
        },
        call,
      );
      forget(waba_id, name);
      await record(store.remove(waba_id, name, language));
      return {};
    },
  };
}

/** Undefined for a record that lacks its name, language or category. */
function categoryOf({
  name,
  language,
  category,
  first_category = category,
  known_at,
}: TemplateRecord): ListCategoriesResponse['templates'][number] | undefined {
  return name === undefined || language === undefined || category === undefined
    ? undefined
    : {
        name,
        language,
        category,
        first_category: first_category as string,
        since: known_at?.category,
      };
}
