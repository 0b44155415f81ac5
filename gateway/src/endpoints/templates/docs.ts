import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

const template = is.record(
  {
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
  },
  { title: 'Template' },
);

export const listTemplates: RowDocs = {
  answer: is.record({ templates: is.list(template), total: is.whole(1) }),
  notes: 'Quality and rejection reasons are not listed; they arrive as events.',
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
  notes: 'Deletes the template in all its languages.',
};
