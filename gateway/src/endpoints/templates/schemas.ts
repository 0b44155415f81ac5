import { HEADER_TYPES } from '@bmg/common/files';
import { components, file, object, page, text } from '../parts/inputs';
import { atLeastOne } from '../parts/rules';

/** Limits of the upstream, which also decides which characters a name may have. */
const NAME_MAX = 512;
const LANGUAGE_MAX = 20;

const DAYS_MAX = 90;
/** 30 days, above the range of any category. */
const TTL_MAX_S = 30 * 24 * 3600;
const LIBRARY_MAX = 100;

const category = {
  type: 'string',
  enum: ['MARKETING', 'UTILITY', 'AUTHENTICATION'],
  description: 'Category of the template.',
} as const;
const language = text(LANGUAGE_MAX, 'Language of the template, for example `en_US`.');
const ttl = {
  type: 'integer',
  minimum: -1,
  maximum: TTL_MAX_S,
  description:
    'Seconds for which the upstream tries to deliver a message of the template; -1 for its own default. The upstream has a range for each category.',
} as const;

/** Further keys at the top are passed to the upstream, which checks them. */
const created = object(
  {
    name: text(NAME_MAX, 'Name of the template, unique per business account.'),
    language,
    category,
    parameter_format: {
      type: 'string',
      enum: ['POSITIONAL', 'NAMED'],
      default: 'POSITIONAL',
      description: 'How the variables are named, in all components: by position or by name.',
    },
    components: {
      replacedBy: 'library_template_name',
      ...components(
        '`BODY`, `HEADER`, `FOOTER` and `BUTTONS` objects, passed to the upstream unchanged. A template with variables needs examples to be approved: `{"type":"BODY","text":"Hello {{1}}","example":{"body_text":[["Ada"]]}}`.',
      ),
    },
    library_template_name: text(
      NAME_MAX,
      'Name of a template of `GET /templates/library`, whose content the new one gets instead of `components`.',
    ),
    message_send_ttl_seconds: ttl,
  },
  ['name', 'language', 'category', 'components'],
);

export const createTemplate = {
  ...created,
  published: {
    additionalProperties: true,
    required: ['name', 'language', 'category'],
    allOf: [atLeastOne(['components', 'library_template_name'])],
  },
};

const updated = object({
  category,
  components: components('The new content, all of it: what is left out is removed.'),
  message_send_ttl_seconds: ttl,
});

export const updateTemplate = { ...updated, published: { additionalProperties: true } };

export const deleteTemplate = object({
  language: text(LANGUAGE_MAX, 'Deletes the template only in this language.'),
});

export const getTemplateAnalytics = object(
  {
    template_ids: {
      type: 'string',
      pattern: '^\\d{1,20}(,\\d{1,20}){0,9}$',
      errorMessage: 'must be 1 to 10 template IDs with commas between them',
      examples: ['300000000000001'],
      description: 'One to ten template IDs with commas between them.',
    },
    days: {
      type: 'integer',
      minimum: 1,
      maximum: DAYS_MAX,
      default: 30,
      description: 'Number of days up to now.',
    },
  },
  ['template_ids'],
);

export const listLibraryTemplates = object({
  ...page(LIBRARY_MAX).properties,
  search: text(NAME_MAX, 'Text in the name or the content.'),
  name: text(NAME_MAX, 'Exact name.'),
  language: text(LANGUAGE_MAX, 'Language, for example `en_US`.'),
  topic: text(NAME_MAX, 'Topic, for example `ORDER_MANAGEMENT`.'),
  usecase: text(NAME_MAX, 'Use case, for example `DELIVERY_UPDATE`.'),
  industry: text(NAME_MAX, 'Industry, for example `E_COMMERCE`.'),
});

export const uploadHeader = file(HEADER_TYPES);
