// The RPCs of the service. Every call queries the upstream; the template records are by-products for our own use.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import { within } from '@bmg/common/lifecycle';
import type { Call, Handlers } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Credentials } from '@bmg/common/directory';
import {
  createAccountLimits,
  createRunner,
  idOf,
  needTarget,
  segment,
  type Json,
  type Upstream,
} from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { ListCategoriesResponse, TemplatesDefinition } from '@bmg/proto/templates';
import { uploadHeader, type HeaderDependencies } from './header/upload';
import { createTemplateFinder, RECORD_TIMEOUT_MS } from './find';
import { listTemplates } from './list';
import { createListRooms } from './list-room';
import { templateLists } from './lists';
import { createOneTemplate } from './one';
import { factOf, type TemplateRecord, type TemplateStore } from './store';

export interface TemplateDependencies extends HeaderDependencies {
  upstream: Upstream;
  store: TemplateStore;
  credentials: Pick<Credentials, 'of'>;
  now: () => Date;
  log: Logger;
}

const CLOCK_SKEW_MS = 5_000;

/** Longer than 70 lines: one short method for each RPC. */
export function createTemplatesHandlers(deps: TemplateDependencies): Handlers<TemplatesDefinition> {
  const { upstream, store, credentials, now, log } = deps;

  /** Records may lag behind: the answer never waits long for the database, and never fails with it. */
  const record = async (write: Promise<void>): Promise<void> =>
    within(RECORD_TIMEOUT_MS, write).catch((error: unknown) =>
      log.warn({ err: error }, 'failed to record templates'),
    );

  /** Events have the upstream's timestamps, in seconds: an event of the same moment must count as newer. */
  const since = (): Date => new Date(now().getTime() - CLOCK_SKEW_MS);

  const token = async (target: Target, call: Call): Promise<string> =>
    (await credentials.of(target, call)).access_token;

  const rooms = createListRooms(log);
  const shared = { upstream, store, token, record, since, log };
  const finder = createTemplateFinder(shared);
  const runner = createRunner({ upstream, credentials, limits: createAccountLimits(log) });
  const one = createOneTemplate({ ...shared, ask: runner.ask, forget: finder.forget });

  return {
    ...runner.handlers(templateLists(now)),
    getTemplate: one.get,
    updateTemplate: one.update,
    async listTemplates(request, call) {
      const target = needTarget(request.target);
      const { partner_id, waba_id } = target;
      const at = since();
      return rooms.hold(partner_id, call, async (room) => {
        const listed = await listTemplates(upstream, waba_id, await token(target, call), call, {
          room,
        });
        const { templates, complete } = listed;
        if (!complete) log.warn({ templates: templates.length }, 'truncated template list');
        const facts = templates.flatMap((template) => factOf(waba_id, template) ?? []);
        await record(store.learnAll(waba_id, facts, { at, complete }));
        return { templates };
      });
    },
    async createTemplate(request, call) {
      const target = needTarget(request.target);
      const template = readTemplate(request.template ?? {});
      const at = since();
      const answer = await upstream.request(
        {
          operation: 'POST /{waba_id}/message_templates',
          method: 'POST',
          path: `/${segment(target.waba_id)}/message_templates`,
          token: await token(target, call),
          // As for a send: a creation whose outcome is unknown must not be retried blindly.
          send: true,
          body: template,
        },
        call,
      );
      // A template of the library has its content there.
      const { name, language, components = [] } = template;
      const { id, status, category } = created(answer, template);
      const fields = { id, name, language, category, status, components };
      const fact = factOf(target.waba_id, fields);
      finder.forget(target.waba_id, String(name));
      if (fact) {
        const first_category = String(template.category);
        await record(store.learn([{ ...fact, first_category }], at));
      }
      return { fields };
    },
    uploadHeader: (request, call) => uploadHeader(deps, request, call),
    async deleteTemplate(request, call) {
      const target = needTarget(request.target);
      const name = request.template_name.trim();
      if (name === '') throw missingFields(['template_name']);
      const { language } = request;
      const hsm_id =
        language === undefined ? undefined : await one.idOf(target, name, language, call);
      await upstream.request(
        {
          operation: 'DELETE /{waba_id}/message_templates',
          method: 'DELETE',
          path: `/${segment(target.waba_id)}/message_templates`,
          query: { name, hsm_id },
          token: await token(target, call),
        },
        call,
      );
      finder.forget(target.waba_id, name);
      await record(store.remove(target.waba_id, name, language));
      return {};
    },
    findTemplate: (request, call) => finder.find(request, call),
    async listCategories({ waba_id, names }) {
      const found = await store.categories(waba_id, names);
      return { templates: found.flatMap((template) => categoryOf(template) ?? []) };
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

const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'];
const FORMATS = ['POSITIONAL', 'NAMED'];

type NewTemplate = Json &
  Record<'name' | 'language' | 'category' | 'parameter_format', unknown> & {
    components?: unknown;
  };

/** The upstream's body: the upstream checks keys beyond the contract's. */
function readTemplate(given: Json): NewTemplate {
  const { name, language, category, components } = given;
  const parameter_format = given['parameter_format'] ?? 'POSITIONAL';
  const from_library = !isBlank(given['library_template_name']);
  const needed = { name, language, category, ...(!from_library && { components }) };
  const missing = Object.entries(needed)
    .filter(([, value]) => isBlank(value))
    .map(([key]) => key);
  if (missing.length > 0) throw missingFields(missing);
  if (!CATEGORIES.includes(category as string)) {
    throw invalidField('category', `must be one of ${CATEGORIES.join(', ')}`);
  }
  if (!FORMATS.includes(parameter_format as string)) {
    throw invalidField('parameter_format', `must be one of ${FORMATS.join(', ')}`);
  }
  if (components !== undefined && !Array.isArray(components)) {
    throw invalidField('components', 'must be an array');
  }
  return { ...given, name, language, category, parameter_format };
}

const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0);

/** The upstream may assign another category than the requested one. */
function created(
  answer: Json,
  { category }: NewTemplate,
): Record<'id' | 'status' | 'category', string> {
  const { status } = answer;
  const id = idOf(answer['id']);
  if (id === undefined) {
    throw new ApiError(
      'UPSTREAM_ERROR',
      'the upstream accepted the template but returned no template ID',
      {
        retryable: false,
        details: { outcome: 'unknown' },
      },
    );
  }
  return {
    id,
    status: typeof status === 'string' ? status : 'PENDING',
    category: String(answer['category'] ?? category),
  };
}
