// The template of a broadcast that is checked: from the templates service's own state, by the rules
// of a creation.
import { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { Template, TemplatesDefinition } from '@bmg/proto/templates';
import type { TemplateStates } from '../store/template-states';
import { lastEventError, type TemplateName } from './validate-template';
import { factsOf, type TemplateFacts } from './rules';

export interface FoundTemplate {
  /** The error that refuses a creation. */
  refusal?: ApiError;
  /** Absent if the template cannot be sent, or is not known. */
  facts?: TemplateFacts;
  /** Absent if it does not exist, or could not be looked up. */
  template?: Template;
}

export type FindTemplate = (
  target: Target,
  name: TemplateName,
  call: Call,
) => Promise<FoundTemplate>;

const FIND_LIMIT_MS = 5_000;

export function createFindTemplate(deps: {
  templates: Pick<Client<TemplatesDefinition>, 'findTemplate'> | undefined;
  states: Pick<TemplateStates, 'statusOf'>;
  log: Logger;
}): FindTemplate {
  const { templates, states, log } = deps;
  const lastEvent = async (target: Target, name: TemplateName): Promise<FoundTemplate> => {
    const refusal = await lastEventError(states, target, name);
    return refusal ? { refusal } : {};
  };
  return async (target, name, call) => {
    if (!templates) return lastEvent(target, name);
    const deadline = Math.min(call.deadline, Date.now() + FIND_LIMIT_MS);
    try {
      const found = await templates.findTemplate({ target, ...name }, { ...call, deadline });
      const { template, languages } = found;
      const facts = factsOf(
        [
          ...(template ? [{ ...name, ...template }] : []),
          ...languages.map((language) => ({ name: name.name, language })),
        ],
        name,
      );
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
