// Looks up the template of a broadcast in the templates service if it is configured and responds in
// time, otherwise in the last status event: to validate a creation, and to show it in a pre-flight.
// An unknown template is accepted, because the upstream checks every send.
import { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { Template, TemplatesDefinition } from '@bmg/proto/templates';
import type { TemplateStates } from './store';
import { factsOf, type TemplateFacts, type TemplateName, statusError } from './rules';

export interface FoundTemplate {
  /** The error that refuses a creation. */
  refusal?: ApiError;
  /** Absent if the template cannot be sent, or is not known. */
  facts?: TemplateFacts;
  /** Absent if it does not exist, or could not be looked up. */
  template?: Template;
}

const FIND_LIMIT_MS = 5_000;
const UNUSABLE = new Set(['PAUSED', 'DISABLED']);

export function createFindTemplate(deps: {
  templates: Pick<Client<TemplatesDefinition>, 'findTemplate'> | undefined;
  states: Pick<TemplateStates, 'statusOf'>;
  log: Logger;
}) {
  const { templates, states, log } = deps;
  const lastEvent = async ({ waba_id }: Target, name: TemplateName): Promise<FoundTemplate> => {
    const status = (await states.statusOf(waba_id, name)) ?? '';
    return UNUSABLE.has(status) ? { refusal: statusError(name.name, status) } : {};
  };
  return async (target: Target, name: TemplateName, call: Call): Promise<FoundTemplate> => {
    if (!templates) return lastEvent(target, name);
    const deadline = Math.min(call.deadline, Date.now() + FIND_LIMIT_MS);
    try {
      const found = await templates.findTemplate({ target, ...name }, { ...call, deadline });
      const { template } = found;
      const facts = factsOf(found, name);
      return {
        ...(template && { template }),
        ...(facts instanceof ApiError ? { refusal: facts } : { facts }),
      };
    } catch (error) {
      log.warn({ err: error }, 'failed to look up the template of a broadcast');
      return lastEvent(target, name);
    }
  };
}

export type FindTemplate = ReturnType<typeof createFindTemplate>;
