// Looks up the template of a broadcast in the templates service if it is configured and responds in
// time, otherwise in the last status event: to validate a creation, and to show it in a pre-flight.
// An unknown template is accepted, because the upstream checks every send.
import { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { Template, TemplatesDefinition } from '@bmg/proto/templates';
import type { TemplateStates } from './store';
import { factsOf, type TemplateFacts, statusError } from './rules';

export interface FoundTemplate {
  /** The error that refuses a creation. */
  refusal?: ApiError;
  /** Absent if the template cannot be sent, or is not known. */
  facts?: TemplateFacts;
  /** Absent if it does not exist, or could not be looked up. */
  template?: Template;
}

interface TemplateName {
  name: string;
  language: string;
}

const FIND_LIMIT_MS = 5_000;

export function createFindTemplate(deps: {
  templates: Pick<Client<TemplatesDefinition>, 'findTemplate'> | undefined;
  states: Pick<TemplateStates, 'statusOf'>;
  log: Logger;
}) {
  const { templates, states, log } = deps;
  const lastEvent = async (target: Target, name: TemplateName): Promise<FoundTemplate> => {
    const refusal = await lastEventError(states, target, name);
    return refusal ? { refusal } : {};
  };
  return async (target: Target, name: TemplateName, call: Call): Promise<FoundTemplate> => {
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

/** Timeout; after it the template is treated as unknown. */
const ASK_LIMIT_MS = 5_000;
/**
 * Listing an account's templates costs many upstream requests, so an approval is cached this long.
 */
const CACHED_MS = 60_000;
const CACHED_MAX = 2_000;
/** A longer list may be truncated: a template that is missing from it may exist. */
const COMPLETE_BELOW = 6_000;
const UNUSABLE = new Set(['PAUSED', 'DISABLED']);

/** Undefined unless the template cannot be sent according to its last status event. */
async function lastEventError(
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
}) {
  const { templates, states, log } = deps;
  const approved = new Map<string, { facts: TemplateFacts; until: number }>();

  const cache = (key: string, facts: TemplateFacts): void => {
    if (approved.size >= CACHED_MAX) approved.clear();
    approved.set(key, { facts, until: Date.now() + CACHED_MS });
  };
  /**
   * Facts about the template, the error the upstream would return, or undefined when it is unknown.
   */
  return async (
    target: Target,
    template: TemplateName,
    call: Call,
  ): Promise<TemplateFacts | ApiError | undefined> => {
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

export type FindTemplate = ReturnType<typeof createFindTemplate>;
export type ValidateTemplate = ReturnType<typeof createTemplateValidation>;
