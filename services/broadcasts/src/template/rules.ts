// Facts about a template, and the errors that the upstream would return for a broadcast of it. No
// I/O.
import { ApiError, invalidField } from '@bmg/common/errors';
import type { FindTemplateResponse } from '@bmg/proto/templates';
import { isBsuid, type Contact } from '../ground/types';
import type { Filler, Json } from './params';

export interface TemplateFacts {
  authentication: boolean;
  /** The variables of the body text; undefined if the template has parts that are not checked. */
  variables: string[] | undefined;
}

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;
/** Templates with other parts are checked by the upstream only. */
const CHECKED_PARTS = new Set(['BODY', 'HEADER', 'FOOTER', 'BUTTONS']);

export interface TemplateName {
  name: string;
  language: string;
}

/** Facts about the template that was looked up, or the error that the upstream would return. */
export function factsOf(
  { template, languages }: FindTemplateResponse,
  { name, language }: TemplateName,
): TemplateFacts | ApiError {
  if (!template) {
    const reason = languages.length > 0 ? `does not exist in ${language}` : 'does not exist';
    return upstreamError(132_001, `template ${name} ${reason}`);
  }
  const { status, category, components } = template;
  if (status !== 'APPROVED') return statusError(name, status);
  return { authentication: category === 'AUTHENTICATION', variables: variablesOf(components) };
}

export function statusError(name: string, status: string): ApiError {
  if (status === 'PAUSED') return upstreamError(132_015, `template ${name} is paused`);
  if (status === 'DISABLED') return upstreamError(132_016, `template ${name} is disabled`);
  return upstreamError(132_001, `template ${name} is not approved (${status})`);
}

const upstreamError = (upstream_code: number, message: string): ApiError =>
  new ApiError('UPSTREAM_ERROR', message, { upstream_code, retryable: false });

function variablesOf(parts: readonly Json[]): string[] | undefined {
  if (!parts.every(({ type }) => CHECKED_PARTS.has(String(type)))) return undefined;
  const text = parts.find(({ type }) => type === 'BODY')?.['text'];
  if (typeof text !== 'string') return undefined;
  return [...new Set([...text.matchAll(VARIABLE)].map((match) => match[1] as string))];
}

/** Throws if contacts do not fit the template: a wrong kind of recipient, or missing variables. */
export function validateContacts(
  facts: TemplateFacts,
  { contacts, places }: { contacts: Contact[]; places: number[] },
  filler: Filler,
): void {
  const wrong = contacts.find(({ recipient }) => needsPhone(facts, recipient));
  if (wrong) throw phoneNeeded();
  for (const [at, contact] of contacts.entries()) {
    const fault = contactFault(facts, contact, places[at] ?? at, filler);
    if (fault) throw fault;
  }
}

/** Why the template cannot be sent to the contact at that place of the request. */
export function contactFault(
  facts: TemplateFacts,
  { recipient, params }: Contact,
  place: number,
  filler: Filler,
): ApiError | undefined {
  if (needsPhone(facts, recipient)) return phoneNeeded();
  const { variables } = facts;
  if (!variables) return undefined;
  const where = `contacts[${place}].params`;
  const given = filler.check(params, where);
  if (given === variables.length) return undefined;
  const problem = `gives ${given} of the ${variables.length} variables of the template’s body`;
  return invalidField(where, problem, { variables });
}

/** Contract 4.6. */
const needsPhone = ({ authentication }: TemplateFacts, recipient: string): boolean =>
  authentication && isBsuid(recipient);

const phoneNeeded = (): ApiError =>
  new ApiError(
    'AUTH_TEMPLATE_NEEDS_PHONE',
    'an authentication template cannot be sent to a BSUID: a phone number is required',
    { upstream_code: 131_062, retryable: false },
  );
