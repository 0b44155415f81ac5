// What is known of a template, and what the upstream would say to a broadcast of it. Nothing here does any I/O.
import { ApiError, invalidField } from '@bmg/common/errors';
import { isBsuid, type ReadContacts } from '../create/contacts';
import { isObject, type Filler, type Json } from './params';

export interface TemplateFacts {
  authentication: boolean;
  /** The variables of the body text; undefined where parts of the template are beyond this check. */
  variables: string[] | undefined;
}

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;
/** Templates made of other parts than these are the upstream's to judge. */
const PLAIN = new Set(['BODY', 'HEADER', 'FOOTER', 'BUTTONS']);

/** The template of that name and language, or the error that the upstream would answer. */
export function judgeTemplate(
  templates: readonly Json[],
  { name, language }: { name: string; language: string },
): TemplateFacts | ApiError {
  const named = templates.filter((template) => template['name'] === name);
  const found = named.find((template) => template['language'] === language);
  if (!found) {
    const why = named.length > 0 ? `does not exist in ${language}` : 'does not exist';
    return refusal(132_001, `template ${name} ${why}`);
  }
  const status = String(found['status']);
  if (status !== 'APPROVED') return refuseStatus(name, status);
  return {
    authentication: found['category'] === 'AUTHENTICATION',
    variables: variablesOf(Array.isArray(found['components']) ? found['components'] : []),
  };
}

export function refuseStatus(name: string, status: string): ApiError {
  if (status === 'PAUSED') return refusal(132_015, `template ${name} is paused`);
  if (status === 'DISABLED') return refusal(132_016, `template ${name} is disabled`);
  return refusal(132_001, `template ${name} is not approved (${status})`);
}

const refusal = (upstream_code: number, message: string): ApiError =>
  new ApiError('UPSTREAM_ERROR', message, { upstream_code, retryable: false });

function variablesOf(components: unknown[]): string[] | undefined {
  const parts = components.filter(isObject);
  if (!parts.every(({ type }) => PLAIN.has(String(type)))) return undefined;
  const text = parts.find(({ type }) => type === 'BODY')?.['text'];
  if (typeof text !== 'string') return undefined;
  return [...new Set([...text.matchAll(VARIABLE)].map((match) => match[1] as string))];
}

/** Throws what is wrong between the template and the contacts. */
export function checkContacts(
  facts: TemplateFacts,
  { contacts, places }: Pick<ReadContacts, 'contacts' | 'places'>,
  filler: Filler,
): void {
  if (facts.authentication && contacts.some(({ recipient }) => isBsuid(recipient))) {
    // Recipient rules 6: permanent, a real phone number is required.
    throw new ApiError(
      'AUTH_TEMPLATE_NEEDS_PHONE',
      'an authentication template cannot be sent to a BSUID: a phone number is required',
      { upstream_code: 131_062, retryable: false },
    );
  }
  const { variables } = facts;
  if (!variables) return;
  for (const [at, { params }] of contacts.entries()) {
    const where = `contacts[${places[at] ?? at}].params`;
    const given = filler.check(params, where);
    if (given !== variables.length) {
      throw invalidField(
        where,
        `gives ${given} of the ${variables.length} variables of the template’s body`,
        {
          variables,
        },
      );
    }
  }
}
