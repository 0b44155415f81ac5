// Finds out whether a template can be sent with the given components, and its category.
import {
  needsPhone,
  reason,
  templateMisfit,
  upstreamRefusal,
  type Reason,
} from '@bmg/common/preflight';
import { ApiError } from '@bmg/common/errors';
import { parseBsuid } from '@bmg/common/ids';
import type { Call } from '@bmg/common/rpc';
import type { Target } from '@bmg/proto/common';
import type { Template } from '@bmg/proto/templates';
import type { Content } from '../send';
import type { Needs, Dependencies } from '../dependencies';

export interface TemplateVerdict {
  status?: string;
  /** In lower case, as in the upstream's prices. */
  category?: string;
  category_since?: string | null;
  reasons: Reason[];
}

type TemplateSource = Needs<{ templates: 'findTemplate' }> & Pick<Dependencies, 'log'>;

const FIND_LIMIT_MS = 5_000;
const NAME = 'template.name';

export async function templateVerdict(
  source: TemplateSource,
  { target, recipient, content }: { target: Target; recipient: string; content: Content },
  call: Call,
): Promise<TemplateVerdict> {
  const { name, language, components } = content.body['template'] as {
    name: string;
    language: { code: string };
    components?: unknown[];
  };
  const found = await findTemplate(source, { target, name, language: language.code }, call);
  if ('reasons' in found) return found;
  const reasons: Reason[] = [];
  if (found.status !== 'APPROVED') {
    const [code, state] = refusedStatus(found.status);
    reasons.push(upstreamRefusal(code, `the template ${name} is ${state}`, NAME));
  }
  const misfit = templateMisfit(found.components, components ?? []);
  if (misfit) reasons.push(misfit);
  if (needsPhone(found.category, found.components) && parseBsuid(recipient) !== null) {
    reasons.push(
      reason('no', {
        code: 'AUTH_TEMPLATE_NEEDS_PHONE',
        field: 'to',
        message: 'an authentication template cannot be sent to a BSUID',
        upstream_code: 131_062,
      }),
    );
  }
  return {
    status: found.status,
    category: found.category.toLowerCase(),
    category_since: found.category_since?.toISOString() ?? null,
    reasons,
  };
}

/** The template, or the reasons why there is none. */
async function findTemplate(
  { templates, log }: TemplateSource,
  wanted: { target: Target; name: string; language: string },
  call: Call,
): Promise<Template | { reasons: Reason[] }> {
  const { name, language } = wanted;
  const unknown = reason('unknown', {
    code: 'TEMPLATE_UNKNOWN',
    field: NAME,
    message: `the template ${name} could not be looked up`,
  });
  if (!templates) return { reasons: [unknown] };
  try {
    const deadline = Math.min(call.deadline, Date.now() + FIND_LIMIT_MS);
    const { template, languages } = await templates.findTemplate(wanted, { ...call, deadline });
    if (template) return template;
    const known = languages.length > 0 ? `; it exists in ${languages.join(', ')}` : '';
    const message = `the template ${name} does not exist in ${language}${known}`;
    const field = languages.length > 0 ? 'template.language' : NAME;
    return { reasons: [upstreamRefusal(132_001, message, field)] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    log.warn({ err: error }, 'failed to look up a template');
    return { reasons: [unknown] };
  }
}

/** The upstream's code for a template in this status, and its state. */
const refusedStatus = (status: string): [number, string] => {
  if (status === 'PAUSED') return [132_015, 'paused'];
  if (status === 'DISABLED') return [132_016, 'disabled'];
  return [132_001, `not approved (${status})`];
};
