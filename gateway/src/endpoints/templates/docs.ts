import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

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
const template = is.record(shown, { title: 'Template' });

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

export const listTemplates: RowDocs = {
  answer: is.record({ templates: is.list(template), total: is.whole(1) }),
  notes:
    'Quality and rejection reasons are not listed: `GET /templates/{template_name}` has them, and they arrive as events.',
};

export const createTemplate: RowDocs = {
  answer: is.record({ template }),
  example: {
    name: 'order_shipped',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      {
        type: 'BODY',
        text: 'Hello, your order has been shipped and arrives tomorrow.',
      },
    ],
  },
  notes:
    'Approval can take up to 24 hours. The result arrives as a `template.status_updated` event.',
};

export const getTemplate: RowDocs = {
  params: { template_name },
  answer: is.record({ template: detailed }),
  notes: 'Has what `GET /templates` leaves out: the quality and the reason of a rejection.',
};

export const updateTemplate: RowDocs = {
  params: { template_name },
  answer: is.record({ template: detailed }),
  example: {
    components: [{ type: 'BODY', text: 'Hello, your order arrives tomorrow.' }],
  },
  notes:
    'Further keys are passed to the upstream. It changes approved, rejected and paused templates only, an approved one once a day and ten times in 30 days, and not its category. Name and language stay.',
};

export const getTemplateAnalytics: RowDocs = {
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
};

export const listLibraryTemplates: RowDocs = {
  answer: is.record(
    {
      templates: is.list(
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
      paging: is.paging,
      limit: is.used_limit,
    },
    { optional: ['limit'] },
  ),
  notes:
    'A template that `POST /templates` makes of one (`library_template_name`) needs no components, and most often no approval.',
};

export const uploadHeader: RowDocs = {
  answer: is.record({
    header_handle: is.text(
      '4::aW1hZ2UvanBlZw==:ARZ…',
      'Handle of the sample, for `example.header_handle` of a `HEADER` component. It is not a `media_id`.',
    ),
  }),
  example: { url: 'https://example.com/files/sample.jpg', mime_type: 'image/jpeg' },
  codes: ['MEDIA_TOO_LARGE', 'PLATFORM_NOT_CONFIGURED'],
  notes: 'Returns the handle of a sample file for the header of a new template.',
};

export const deleteTemplate: RowDocs = {
  params: { template_name: is.text('order_update', 'Name of the template.') },
  answer: is.nothing,
  notes: 'Deletes the template in all its languages, or with `language` in one.',
};
