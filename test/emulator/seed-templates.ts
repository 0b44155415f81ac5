// The templates that every seeded account has.
import type { State } from './state';
import { buildTemplate, type JsonObject } from './types';

const body = (text: string, ...examples: string[]): JsonObject => ({
  type: 'BODY',
  text,
  ...(examples.length > 0 && { example: { body_text: [examples] } }),
});
const header = (format: 'DOCUMENT' | 'IMAGE'): JsonObject => ({
  type: 'HEADER',
  format,
  example: { header_handle: ['4::SEEDED'] },
});
const buttons = (...items: JsonObject[]): JsonObject => ({ type: 'BUTTONS', buttons: items });
const link = (text: string, url: string, example: string): JsonObject => ({
  type: 'URL',
  text,
  url,
  example: [example],
});
const offer = (text: string): JsonObject => ({
  components: [
    header('IMAGE'),
    body(text),
    buttons(link('Buy', 'https://example.org/offers/{{1}}', '17')),
  ],
});

const SEEDED: ReadonlyArray<Omit<Parameters<typeof buildTemplate>[0], 'id' | 'waba_id'>> = [
  { name: 'hello_world', language: 'es', components: [body('Hola y bienvenido.')] },
  { name: 'hello_world', components: [body('Hello and welcome.')] },
  {
    name: 'order_update',
    components: [body('Hi {{1}}, your order {{2}} is on its way.', 'Ada', 'A-17')],
  },
  {
    name: 'login_code',
    category: 'AUTHENTICATION',
    components: [
      {
        ...body('*{{1}}* is your verification code.', '123456'),
        add_security_recommendation: true,
      },
      { type: 'FOOTER', code_expiration_minutes: 10 },
      buttons({ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }),
    ],
  },
  {
    name: 'welcome_named',
    category: 'MARKETING',
    parameter_format: 'NAMED',
    components: [
      {
        ...body('Hi {{first_name}}, welcome to {{shop}}.'),
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
    components: [body('The sale is on.')],
  },
  {
    name: 'invoice_document',
    components: [
      header('DOCUMENT'),
      body('Your invoice {{1}}.', '17'),
      buttons(link('Track', 'https://example.org/{{1}}', 'https://example.org/17')),
    ],
  },
  {
    name: 'offer_paced',
    category: 'MARKETING',
    pacing: 'release',
    components: [body('Ten percent off today.')],
  },
  { name: 'review_pending', status: 'PENDING', components: [body('Waiting.')] },
  {
    name: 'review_rejected',
    status: 'REJECTED',
    rejected_reason: 'INVALID_FORMAT',
    components: [body('Refused.')],
  },
  {
    name: 'launch_picture',
    category: 'MARKETING',
    components: [
      header('IMAGE'),
      body('The new collection is here.'),
      buttons({ type: 'QUICK_REPLY', text: 'Show me' }, { type: 'COPY_CODE', example: 'SPRING10' }),
    ],
  },
  {
    name: 'offers_carousel',
    category: 'MARKETING',
    components: [
      body('Two offers for you, {{1}}, this week.', 'Ada'),
      { type: 'CAROUSEL', cards: [offer('Apples'), offer('Pears')] },
    ],
  },
];

/** `idOf` gives the ID of each by its place. */
export function seedTemplates(
  state: State,
  waba_id: string,
  idOf: (serial: number) => string,
): void {
  // The Spanish one has the first ID, and is listed last.
  for (let serial = 1; serial <= SEEDED.length; serial += 1) {
    const place = serial % SEEDED.length;
    const row = structuredClone(SEEDED[place] as (typeof SEEDED)[number]);
    state.addTemplate(buildTemplate({ ...row, id: idOf(place), waba_id }));
  }
}
