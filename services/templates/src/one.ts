// One template by its ID: its details, a change of it, and the ID of a name in a language.
import { invalidField, missingFields } from '@bmg/common/errors';
import { within } from '@bmg/common/lifecycle';
import type { Call } from '@bmg/common/rpc';
import { needTarget, type Json, type Runner } from '@bmg/common/upstream';
import type { Node, Target } from '@bmg/proto/common';
import type { GetTemplateRequest, UpdateTemplateRequest } from '@bmg/proto/templates';
import { RECORD_TIMEOUT_MS, type Shared } from './find';
import { templatesNamed } from './list';
import { factOf } from './store';

export interface OneDependencies extends Shared {
  ask: Runner['ask'];
  forget: (waba_id: string, name: string) => void;
}

const FIELDS = [
  'id',
  'name',
  'language',
  'category',
  'status',
  'components',
  'parameter_format',
  'quality_score',
  'rejected_reason',
  'previous_category',
  'library_template_name',
  'message_send_ttl_seconds',
].join(',');
/** What the upstream never changes. */
const FIXED = ['id', 'name', 'language', 'status'];

type OfTarget = { target: Target; template_id: string };

export function createOneTemplate(deps: OneDependencies) {
  const { store, ask, record, since, log, forget } = deps;

  const read = async (request: OfTarget, call: Call): Promise<Json> => {
    const { target, template_id } = request;
    const { waba_id } = target;
    const at = since();
    const query = { fields: FIELDS };
    const node = await ask({ upstream: 'GET /{template_id}', query }, request, call);
    const fact = factOf(waba_id, node);
    // The token reaches templates of other accounts, and other objects.
    const known = await within(RECORD_TIMEOUT_MS, store.has(waba_id, template_id)).catch(
      () => false,
    );
    if (!known) {
      const listed = fact === undefined ? [] : await templatesNamed(deps, target, fact.name, call);
      if (!listed.some(({ id }) => id === template_id)) {
        throw invalidField('template_id', 'does not belong to the WABA');
      }
    }
    if (fact) await record(store.learn([fact], at));
    return node;
  };

  return {
    async get({ target, template_id }: GetTemplateRequest, call: Call): Promise<Node> {
      return { fields: await read({ target: needTarget(target), template_id }, call) };
    },
    async update(
      { target: given, template_id, changes = {} }: UpdateTemplateRequest,
      call: Call,
    ): Promise<Node> {
      const request = { target: needTarget(given), template_id };
      if (Object.keys(changes).length === 0) {
        throw missingFields(['components'], 'there is nothing to change: set components');
      }
      const fixed = FIXED.find((key) => Object.hasOwn(changes, key));
      if (fixed) throw invalidField(fixed, 'cannot be changed: create another template');
      const before = await read(request, call);
      // A repeat would count as one more change, of which an approved template has few.
      const change = { upstream: 'POST /{template_id}', body: changes, send: true } as const;
      await ask(change, request, call);
      forget(request.target.waba_id, String(before['name']));
      try {
        return { fields: await read(request, call) };
      } catch (error) {
        log.warn({ err: error }, 'failed to read a template after its change');
        const { status: _status, ...rest } = before;
        return { fields: { ...rest, ...changes } };
      }
    },
    /** Throws INVALID_FIELD if the name does not exist in the language. */
    async idOf(target: Target, name: string, language: string, call: Call): Promise<string> {
      const named = await templatesNamed(deps, target, name, call);
      const found = named.find((one) => one.language === language);
      if (!found) throw invalidField('language', 'is none in which the template exists');
      return found.id;
    },
  };
}

export type OneTemplate = ReturnType<typeof createOneTemplate>;
