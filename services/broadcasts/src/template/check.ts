// Whether the template of a new broadcast can be sent at all. The templates service is asked where it is
// configured and answers in time; otherwise what its events said is used, and what nobody knows is accepted.
import type { ApiError } from '@bmg/common/errors';
import type { Call, Client } from '@bmg/common/rpc';
import type { Logger } from '@bmg/common/telemetry';
import type { Target } from '@bmg/proto/common';
import type { TemplatesDefinition } from '@bmg/proto/templates';
import type { TemplateStates } from '../store/template-states';
import { judgeTemplate, refuseStatus, type TemplateFacts } from './rules';

export interface TemplateName {
  name: string;
  language: string;
}

export interface TemplateCheck {
  /** What is known, an error where the upstream would refuse, undefined where nothing is known. */
  (
    target: Target,
    template: TemplateName,
    call: Call,
  ): Promise<TemplateFacts | ApiError | undefined>;
}

/** An answer that takes longer is not waited for: the upstream judges every send anyhow. */
const ASK_LIMIT_MS = 5_000;
/** Listing an account's templates is many requests upstream: what was approved a moment ago still is. */
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 2_000;
/** From here on the list may have been cut, and what is not in it may exist. */
const COMPLETE_BELOW = 6_000;
const UNUSABLE = new Set(['PAUSED', 'DISABLED']);

export function createTemplateCheck(deps: {
  templates: Pick<Client<TemplatesDefinition>, 'listTemplates'> | undefined;
  states: Pick<TemplateStates, 'statusOf'>;
  log: Logger;
}): TemplateCheck {
  const { templates, states, log } = deps;
  const approved = new Map<string, { facts: TemplateFacts; until: number }>();

  const remember = (key: string, facts: TemplateFacts): void => {
    if (approved.size >= REMEMBERED_MAX) approved.clear();
    approved.set(key, { facts, until: Date.now() + REMEMBERED_MS });
  };
  const learnt = async (
    { waba_id }: Target,
    template: TemplateName,
  ): Promise<ApiError | undefined> => {
    const status = await states.statusOf(waba_id, template);
    return status !== undefined && UNUSABLE.has(status)
      ? refuseStatus(template.name, status)
      : undefined;
  };
  return async (target, template, call) => {
    if (!templates) return learnt(target, template);
    const key = JSON.stringify([target.waba_id, template.name, template.language]);
    const known = approved.get(key);
    if (known && known.until > Date.now()) return known.facts;
    try {
      const deadline = Math.min(call.deadline, Date.now() + ASK_LIMIT_MS);
      const answer = await templates.listTemplates({ target }, { ...call, deadline });
      const judged = judgeTemplate(answer.templates, template);
      if (!(judged instanceof Error)) remember(key, judged);
      else if (answer.templates.length >= COMPLETE_BELOW) return undefined;
      return judged;
    } catch (error) {
      log.warn({ err: error }, 'the template of a broadcast could not be checked');
      return learnt(target, template);
    }
  };
}
