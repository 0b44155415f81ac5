import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';
export { uploadHeader } from '../media/docs';

const template = is.record(
  {
    id: is.text('300000000000001'),
    name: is.text('order_update', 'unique per business account'),
    language: is.text('en_US'),
    category: is.open(['MARKETING', 'UTILITY', 'AUTHENTICATION']),
    status: is.open(['APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL']),
    components: is.list(
      is.node({
        type: is.text('BODY'),
        text: is.text('Hello {{1}}, your order {{2}} is on its way.'),
      }),
      'the upstream’s own objects',
    ),
  },
  { title: 'Template' },
);

export const listTemplates: RowDocs = {
  answer: is.record({ templates: is.list(template), total: is.whole(1) }),
  notes: 'Quality and reasons for rejection arrive as events.',
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
        text: 'Hello {{1}}, your order {{2}} has been shipped.',
        example: { body_text: [['Ada', '4711']] },
      },
    ],
  },
  notes: 'Approval may take up to 24 hours and is told by an event.',
};

export const deleteTemplate: RowDocs = { answer: is.nothing };
