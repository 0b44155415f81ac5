import { HEADER_TYPES } from '@bmg/common/files';
import { components, file, object, text } from '../parts/inputs';

/** Limits of the upstream, which also decides which characters a name may have. */
const NAME_MAX = 512;
const LANGUAGE_MAX = 20;

/** Further keys at the top are passed to the upstream, which checks them. */
const created = object(
  {
    name: text(NAME_MAX, 'Name of the template, unique per business account.'),
    language: text(LANGUAGE_MAX, 'Language of the template, for example `en_US`.'),
    category: {
      type: 'string',
      enum: ['MARKETING', 'UTILITY', 'AUTHENTICATION'],
      description: 'Category of the template.',
    },
    parameter_format: {
      type: 'string',
      enum: ['POSITIONAL', 'NAMED'],
      default: 'POSITIONAL',
      description: 'How the variables are named, in all components: by position or by name.',
    },
    components: components(
      '`BODY`, `HEADER`, `FOOTER` and `BUTTONS` objects, passed to the upstream unchanged. A template with variables needs examples to be approved: `{"type":"BODY","text":"Hello {{1}}","example":{"body_text":[["Ada"]]}}`.',
    ),
  },
  ['name', 'language', 'category', 'components'],
);

export const createTemplate = { ...created, published: { additionalProperties: true } };

export const uploadHeader = file(HEADER_TYPES);
