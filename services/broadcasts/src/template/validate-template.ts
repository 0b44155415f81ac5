// Validates the template of a new broadcast: whether it can be sent. Uses the templates service if it is
// configured and responds in time, otherwise the last status event. An unknown template is accepted, because
// the upstream checks every send.
import type { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { TemplatesDefinition } from '@bmg/proto/templates';
import type { TemplateStates } from '../store/template-states';
import { factsOf, statusError, type TemplateFacts } from './rules';

export interface TemplateName {
  name: string;
  language: string;
}

export interface ValidateTemplate {
  /**
   * Facts about the template, the error the upstream would return, or undefined when it is unknown.
   */
  (
    target: Target,
    template: TemplateName,
    call: Call,
  ): Promise<TemplateFacts | ApiError | undefined>;
}

/** Timeout; after it the template is treated as unknown. */
const ASK_LIMIT_MS = 5_000;
/** Listing an account's templates costs many upstream requests, so an approval is cached this long. */
const CACHED_MS = 60_000;
const CACHED_MAX = 2_000;
/** A longer list may be truncated: a template that is missing from it may exist. */
const COMPLETE_BELOW = 6_000;
const UNUSABLE = new Set(['PAUSED', 'DISABLED']);

/** Undefined unless the template cannot be sent according to its last status event. */
export async function lastEventError(
  states: Pick<TemplateStates, 'statusOf'>,
  { waba_id }: Target,
  template: TemplateName,
): Promise<ApiError | undefined> {
  const status = await states.statusOf(waba_id, template);
  return status !== undefined && UNUSABLE.has(status)
    ? statusError(template.name, status)
    : undefined;
}

export function createTemplateValidation(deps: {
  templates: Pick<Client<TemplatesDefinition>, 'listTemplates'> | undefined;
  states: Pick<TemplateStates, 'statusOf'>;
  log: Logger;
}): ValidateTemplate {
  const { templates, states, log } = deps;
  const approved = new Map<string, { facts: TemplateFacts; until: number }>();

  const cache = (key: string, facts: TemplateFacts): void => {
    if (approved.size >= CACHED_MAX) approved.clear();
    approved.set(key, { facts, until: Date.now() + CACHED_MS });
  };
  return async (target, template, call) => {
    if (!templates) return lastEventError(states, target, template);
    const key = JSON.stringify([target.waba_id, template.name, template.language]);
    const cached = approved.get(key);
    if (cached && cached.until > Date.now()) return cached.facts;
    try {
      const deadline = Math.min(call.deadline, Date.now() + ASK_LIMIT_MS);
      const answer = await templates.listTemplates({ target }, { ...call, deadline });
      const checked = factsOf(answer.templates, template);
      if (!(checked instanceof Error)) cache(key, checked);
      else if (answer.templates.length >= COMPLETE_BELOW) return undefined;
      return checked;
    } catch (error) {
      log.warn({ err: error }, 'failed to validate the template of a broadcast');
      return lastEventError(states, target, template);
    }
  };
}
