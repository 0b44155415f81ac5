import { HEADER_TYPES } from '@bmg/common/files';
import { TemplatesDefinition } from '@bmg/proto/templates';
import { del, get, patch, post, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { choice, components, file, object, page, text, whole } from '../parts/inputs';
import { FILE_TIMEOUT_MS, nodeUnder, pageUnder } from '../parts/rows';
import { atLeastOne } from '../parts/rules';

const shown = {
  id: is.text('300000000000001'),
  name: is.text('order_update', 'Unique per business account.'),
  language: is.text('en_US'),
  category: is.open(['MARKETING', 'UTILITY', 'AUTHENTICATION']),
  status: is.open(['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL']),
  components: is.list(
    is.node({
      type: is.text('BODY'),
      text: is.text('Hello {{1}}, your order {{2}} is on its way.'),
    }),
    'Components as the upstream returns them.',
  ),
};
const template = is.named('Template', shown);

/** The place of the name in the path of a deletion. */
const template_name = is.text('300000000000001', 'The ID of the template, not its name.');
const detailed = is.node(
  {
    ...shown,
    parameter_format: is.open(['POSITIONAL', 'NAMED']),
    quality_score: is.node({ score: is.open(['GREEN', 'YELLOW', 'RED', 'UNKNOWN']) }),
    rejected_reason: is.text('NONE', 'Why the upstream rejected it; `NONE` if it did not.'),
  },
  { description: 'The template as the upstream returns it.' },
);

/** Limits of the upstream, which also decides which characters a name may have. */
const NAME_MAX = 512;
const LANGUAGE_MAX = 20;

const DAYS_MAX = 90;
/** 30 days, above the range of any category. */
const TTL_MAX_S = 30 * 24 * 3600;
const LIBRARY_MAX = 100;

const category = choice(['MARKETING', 'UTILITY', 'AUTHENTICATION'], 'Category of the template.');
const language = text(LANGUAGE_MAX, 'Language of the template, for example `en_US`.');
const ttl = whole(
  -1,
  TTL_MAX_S,
  'Seconds for which the upstream tries to deliver a message of the template; -1 for its own default. The upstream has a range for each category.',
);

/** Further keys at the top are passed to the upstream, which checks them. */
const created = object(
  {
    name: text(NAME_MAX, 'Name of the template, unique per business account.'),
    language,
    category,
    parameter_format: choice(
      ['POSITIONAL', 'NAMED'],
      'How the variables are named, in all components: by position or by name.',
      'POSITIONAL',
    ),
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

/** The list of a large account has many upstream pages. */
const LIST_TIMEOUT_MS = 60_000;

/** A few hundred templates. Beyond it, the service bounds a partner's concurrent lists. */
const LIST_BYTES = 512 * 1024;

export const templates: Endpoint[] = [
  get('/templates', rpc(TemplatesDefinition, 'listTemplates'), {
    scope: 'number',
    reads: 'list',
    answer_bytes: () => LIST_BYTES,
    timeout_ms: LIST_TIMEOUT_MS,
    reply: ({ templates }) => ({ templates, total: templates.length }),
    summary: 'List the templates of a business account',
    answer: is.record({ templates: is.list(template), total: is.whole(1) }),
    notes:
      'Quality and rejection reasons are not listed: `GET /templates/{template_name}` has them, and they arrive as events.',
  }),
  post('/templates', rpc(TemplatesDefinition, 'createTemplate'), {
    scope: 'number',
    idempotent: true,
    audit: { values: ['name', 'language', 'category'], ids: { template_id: 'fields.id' } },
    status: 201,
    body: {
      ...created,
      published: {
        additionalProperties: true,
        required: ['name', 'language', 'category'],
        allOf: [atLeastOne(['components', 'library_template_name'])],
      },
    },
    request: ({ body, target }) => ({ template: body, target }),
    summary: 'Create a template and submit it for approval',
    ...nodeUnder('template', template),
    example: {
      name: 'order_shipped',
      language: 'en_US',
      category: 'UTILITY',
      components: [
        { type: 'BODY', text: 'Hello, your order has been shipped and arrives tomorrow.' },
      ],
    },
    notes:
      'Approval can take up to 24 hours. The result arrives as a `template.status_updated` event.',
  }),
  post('/templates/upload-header', rpc(TemplatesDefinition, 'uploadHeader'), {
    scope: 'number',
    timeout_ms: FILE_TIMEOUT_MS,
    body: file(HEADER_TYPES),
    summary: 'Upload a sample file for a template header',
    answer: is.record({
      header_handle: is.text(
        '4::aW1hZ2UvanBlZw==:ARZ…',
        'Handle of the sample, for `example.header_handle` of a `HEADER` component. It is not a `media_id`.',
      ),
    }),
    example: { url: 'https://example.com/files/sample.jpg', mime_type: 'image/jpeg' },
    codes: ['MEDIA_TOO_LARGE', 'PLATFORM_NOT_CONFIGURED'],
    notes: 'Returns the handle of a sample file for the header of a new template.',
  }),
  get('/templates/analytics', rpc(TemplatesDefinition, 'getTemplateAnalytics'), {
    scope: 'number',
    addition: true,
    query: object(
      {
        template_ids: {
          type: 'string',
          pattern: '^\\d{1,20}(,\\d{1,20}){0,9}$',
          errorMessage: 'must be 1 to 10 template IDs with commas between them',
          examples: ['300000000000001'],
          description: 'One to ten template IDs with commas between them.',
        },
        days: whole(1, DAYS_MAX, 'Number of days up to now.', 30),
      },
      ['template_ids'],
    ),
    reply: ({ items, after }, { target, query }) => ({
      waba_id: target.waba_id,
      period_days: query.days,
      data_points: items,
      ...(after !== undefined && { truncated: true }),
    }),
    summary: 'Retrieve how templates did by day',
    answer: is.record(
      {
        waba_id: is.text('900000000000001'),
        period_days: is.whole(30),
        data_points: is.list(
          is.node({
            template_id: is.text('300000000000001'),
            start: is.whole(1_767_225_600, 'Start of the day in epoch seconds.'),
            end: is.whole(1_767_312_000),
            sent: is.whole(12),
            delivered: is.whole(11),
            read: is.whole(7),
          }),
          'One for each template and day, as the upstream returns them.',
        ),
        truncated: is.flag(true, 'There are more points than this list has.'),
      },
      { optional: ['truncated'] },
    ),
    notes:
      'The business account must have confirmed template insights with the upstream, which counts from then on.',
  }),
  get('/templates/library', rpc(TemplatesDefinition, 'listLibraryTemplates'), {
    scope: 'number',
    addition: true,
    query: object({
      ...page(LIBRARY_MAX).properties,
      search: text(NAME_MAX, 'Text in the name or the content.'),
      name: text(NAME_MAX, 'Exact name.'),
      language: text(LANGUAGE_MAX, 'Language, for example `en_US`.'),
      topic: text(NAME_MAX, 'Topic, for example `ORDER_MANAGEMENT`.'),
      usecase: text(NAME_MAX, 'Use case, for example `DELIVERY_UPDATE`.'),
      industry: text(NAME_MAX, 'Industry, for example `E_COMMERCE`.'),
    }),
    summary: 'List the templates of the upstream’s library',
    ...pageUnder(
      'templates',
      is.node({
        name: is.text('delivery_update_1'),
        language: is.text('en_US'),
        category: is.text('UTILITY'),
        topic: is.text('ORDER_MANAGEMENT'),
        usecase: is.text('DELIVERY_UPDATE'),
        body: is.text('Good news! Your order {{1}} is on its way.'),
      }),
      'Templates as the upstream returns them.',
    ),
    notes:
      'A template that `POST /templates` makes of one (`library_template_name`) needs no components, and most often no approval.',
  }),
  // OpenAPI has one name for one place of a path: here it is an ID.
  get('/templates/:template_name', rpc(TemplatesDefinition, 'getTemplate'), {
    scope: 'number',
    addition: true,
    request: ({ params, target }) => ({ template_id: params.template_name, target }),
    summary: 'Retrieve a template with its quality',
    params: { template_name },
    ...nodeUnder('template', detailed),
    notes: 'Has what `GET /templates` leaves out: the quality and the reason of a rejection.',
  }),
  patch('/templates/:template_name', rpc(TemplatesDefinition, 'updateTemplate'), {
    scope: 'number',
    addition: true,
    audit: { values: ['category'] },
    body: {
      ...object({
        category,
        components: components('The new content, all of it: what is left out is removed.'),
        message_send_ttl_seconds: ttl,
      }),
      published: { additionalProperties: true },
    },
    request: ({ body, params, target }) => ({
      template_id: params.template_name,
      changes: body,
      target,
    }),
    summary: 'Change a template and submit it for approval again',
    params: { template_name },
    ...nodeUnder('template', detailed),
    example: { components: [{ type: 'BODY', text: 'Hello, your order arrives tomorrow.' }] },
    notes:
      'Further keys are passed to the upstream. It changes approved, rejected and paused templates only, an approved one once a day and ten times in 30 days, and not its category. Name and language stay.',
  }),
  del('/templates/:template_name', rpc(TemplatesDefinition, 'deleteTemplate'), {
    scope: 'number',
    query: object({ language: text(LANGUAGE_MAX, 'Deletes the template only in this language.') }),
    summary: 'Delete a template in all languages, or in one',
    params: { template_name: is.text('order_update', 'Name of the template.') },
    answer: is.nothing,
    notes: 'Deletes the template in all its languages, or with `language` in one.',
  }),
];
