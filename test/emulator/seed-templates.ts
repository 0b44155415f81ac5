// The templates that every seeded account has.
import { buildTemplate } from './builders';
import type { State } from './state';
import type { JsonObject, Template } from './types';

/** Longer than 70 lines: the templates themselves. */
export function seedTemplates(
  state: State,
  waba_id: string,
  idOf: (serial: number) => string,
): void {
  const rows: Array<Partial<Template> & { name: string; components: JsonObject[] }> = [
    { name: 'hello_world', components: [{ type: 'BODY', text: 'Hello and welcome.' }] },
    {
      name: 'order_update',
      components: [
        {
          type: 'BODY',
          text: 'Hi {{1}}, your order {{2}} is on its way.',
          example: { body_text: [['Ada', 'A-17']] },
        },
      ],
    },
    { name: 'login_code', category: 'AUTHENTICATION', components: authentication() },
    {
      name: 'welcome_named',
      category: 'MARKETING',
      parameter_format: 'NAMED',
      components: [
        {
          type: 'BODY',
          text: 'Hi {{first_name}}, welcome to {{shop}}.',
          example: {
            body_text_named_params: [
              { param_name: 'first_name', example: 'Ada' },
              { param_name: 'shop', example: 'Example Shop' },
            ],
          },
        },
      ],
    },
    {
      name: 'sale_paused',
      category: 'MARKETING',
      status: 'PAUSED',
      quality_score: 'RED',
      components: [{ type: 'BODY', text: 'The sale is on.' }],
    },
    {
      name: 'invoice_document',
      components: [
        { type: 'HEADER', format: 'DOCUMENT', example: { header_handle: ['4::SEEDED'] } },
        { type: 'BODY', text: 'Your invoice {{1}}.', example: { body_text: [['17']] } },
        {
          type: 'BUTTONS',
          buttons: [
            {
              type: 'URL',
              text: 'Track',
              url: 'https://example.org/{{1}}',
              example: ['https://example.org/17'],
            },
          ],
        },
      ],
    },
    {
      name: 'offer_paced',
      category: 'MARKETING',
      pacing: 'release',
      components: [{ type: 'BODY', text: 'Ten percent off today.' }],
    },
    { name: 'review_pending', status: 'PENDING', components: [{ type: 'BODY', text: 'Waiting.' }] },
    {
      name: 'review_rejected',
      status: 'REJECTED',
      rejected_reason: 'INVALID_FORMAT',
      components: [{ type: 'BODY', text: 'Refused.' }],
    },
    {
      name: 'launch_picture',
      category: 'MARKETING',
      components: [
        { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::SEEDED'] } },
        { type: 'BODY', text: 'The new collection is here.' },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'Show me' },
            { type: 'COPY_CODE', example: 'SPRING10' },
          ],
        },
      ],
    },
    {
      name: 'offers_carousel',
      category: 'MARKETING',
      components: [
        {
          type: 'BODY',
          text: 'Two offers for you, {{1}}, this week.',
          example: { body_text: [['Ada']] },
        },
        { type: 'CAROUSEL', cards: [card('Apples'), card('Pears')] },
      ],
    },
  ];
  rows.forEach((row, index) => {
    state.addTemplate(buildTemplate({ ...row, id: idOf(index + 1), waba_id }));
  });
  state.addTemplate(
    buildTemplate({
      id: idOf(0),
      waba_id,
      name: 'hello_world',
      language: 'es',
      components: [{ type: 'BODY', text: 'Hola y bienvenido.' }],
    }),
  );
}

function card(text: string): JsonObject {
  const url = 'https://example.org/offers/{{1}}';
  return {
    components: [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::SEEDED'] } },
      { type: 'BODY', text },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Buy', url, example: ['17'] }] },
    ],
  };
}

function authentication(): JsonObject[] {
  return [
    {
      type: 'BODY',
      text: '*{{1}}* is your verification code.',
      add_security_recommendation: true,
      example: { body_text: [['123456']] },
    },
    { type: 'FOOTER', code_expiration_minutes: 10 },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
  ];
}
