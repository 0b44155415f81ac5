// POST /templates: checks a new template and creates it upstream.
import { ApiError, invalidField, missingFields } from '@bmg/common/errors';
import type { Call } from '@bmg/common/rpc';
import { idOf, segment, type Json } from '@bmg/common/upstream';
import type { Target } from '@bmg/proto/common';
import type { Access } from './list';

const CATEGORIES = ['MARKETING', 'UTILITY', 'AUTHENTICATION'];
const FORMATS = ['POSITIONAL', 'NAMED'];

type NewTemplate = Json &
  Record<'name' | 'language' | 'category' | 'parameter_format', unknown> & {
    components?: unknown;
  };

/** The upstream's body: the upstream checks keys beyond the contract's. */
export function readTemplate(given: Json): NewTemplate {
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

/** Returns the template as the upstream has it: it may assign another category. */
export async function createTemplate(
  { upstream, token }: Access,
  target: Target,
  template: NewTemplate,
  call: Call,
): Promise<Json> {
  const answer = await upstream.request(
    {
      operation: 'POST /{waba_id}/message_templates',
      method: 'POST',
      path: `/${segment(target.waba_id)}/message_templates`,
      token: await token(target, call),
      // A creation is like a send: one whose outcome is unknown must not be retried blindly.
      send: true,
      body: template,
    },
    call,
  );
  // A template of the library has its content there.
  const { name, language, category, components = [] } = template;
  const { status } = answer;
  const id = idOf(answer['id']);
  if (id === undefined) {
    const message = 'the upstream accepted the template but returned no template ID';
    const details = { outcome: 'unknown' };
    throw new ApiError('UPSTREAM_ERROR', message, { retryable: false, details });
  }
  return {
    id,
    name,
    language,
    category: String(answer['category'] ?? category),
    status: typeof status === 'string' ? status : 'PENDING',
    components,
  };
}
