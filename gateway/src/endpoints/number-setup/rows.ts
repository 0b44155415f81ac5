import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as schemas from './schemas';
import { del, get, post, put, rpc, type Endpoint } from '../endpoint';
import * as is from '../parts/answers';
import { nodeUnder, pageUnder, uncounted } from '../parts/rows';

const codeParams = { code: is.text('4O4YGZEG3RIVE1', 'Code of the QR code.') };

const qrFields = {
  code: is.text('4O4YGZEG3RIVE1'),
  prefilled_message: is.text('Hello!'),
  deep_link_url: is.text('https://link.example.org/message/4O4YGZEG3RIVE1'),
  qr_image_url: is.text(
    'https://images.example.org/qr/4O4YGZEG3RIVE1.png',
    'CDN link to the image. It expires.',
  ),
};
const qrCode = (title?: string) =>
  is.record(qrFields, { optional: ['qr_image_url'], ...(title && { title }) });

const blockedUser = is.node({ input: is.text('+15550100777'), wa_id: is.text('15550100777') });
const failedUser = is.node({
  input: is.text('+15550100778'),
  wa_id: is.text('15550100778'),
  errors: is.list(
    is.node({
      code: is.whole(131047),
      message: is.text('Re-engagement required'),
      error_data: is.node({ details: is.text('No message from this user in the last 24 hours') }),
    }),
  ),
});
const PARTLY = 'HTTP 200 does not mean that every user was processed: check `failed`.';

/** A number can have 2,000 codes, on 80 upstream pages. */
const QR_CODES_TIMEOUT_MS = 60_000;

export const numberSetup: Endpoint[] = [
  get('/qr-codes', rpc(NumberAdminDefinition, 'listQrCodes'), {
    ...uncounted,
    timeout_ms: QR_CODES_TIMEOUT_MS,
    query: schemas.listQrCodes,
    summary: 'List the QR codes of a number',
    answer: is.record({ qr_codes: is.list(qrCode('QrCode')) }),
    notes:
      'The link `qr_image_url` expires. Its format is `image_format`, whatever the code was created with.',
  }),
  post('/qr-codes', rpc(NumberAdminDefinition, 'createQrCode'), {
    ...uncounted,
    body: schemas.createQrCode,
    audit: { ids: { code: 'code' } },
    status: 201,
    summary: 'Create a QR code that opens a chat with a prefilled message',
    answer: qrCode(),
    example: { prefilled_message: 'Hello!', image_format: 'PNG' },
    notes: 'The link `qr_image_url` expires; `deep_link_url` stays.',
  }),
  put('/qr-codes/:code', rpc(NumberAdminDefinition, 'updateQrCode'), {
    ...uncounted,
    body: schemas.updateQrCode,
    summary: 'Update the prefilled message of a QR code',
    params: codeParams,
    answer: qrCode(),
    example: { prefilled_message: 'Hello again!' },
    notes: 'The image and the link stay the same.',
  }),
  del('/qr-codes/:code', rpc(NumberAdminDefinition, 'deleteQrCode'), {
    ...uncounted,
    summary: 'Delete a QR code',
    params: codeParams,
    answer: is.nothing,
    notes: 'A deleted code cannot be restored.',
  }),
  get('/conversational-automation', rpc(NumberAdminDefinition, 'getConversationalAutomation'), {
    ...uncounted,
    summary: 'Retrieve welcome message, ice breakers and commands',
    answer: is.record({
      enable_welcome_message: is.flag(true),
      prompts: is.list(is.text('When are you open?'), 'Ice breakers.'),
      commands: is.list(
        is.record({
          command_name: is.text('hours'),
          command_description: is.text('When we are open'),
        }),
      ),
    }),
    notes: 'What the number offers a contact who opens the chat.',
  }),
  post('/conversational-automation', rpc(NumberAdminDefinition, 'updateConversationalAutomation'), {
    ...uncounted,
    body: schemas.updateAutomation,
    audit: { values: ['enable_welcome_message'] },
    // A repeated field cannot be absent, so lists are wrapped: absent keeps the list, empty clears
    // it.
    request: ({ body: { enable_welcome_message, prompts, commands }, target }) => ({
      enable_welcome_message,
      prompts: prompts && { items: prompts },
      commands: commands && { items: commands },
      target,
    }),
    summary: 'Update welcome message, ice breakers or commands',
    answer: is.nothing,
    example: { enable_welcome_message: true, prompts: ['When are you open?'] },
    notes: 'Fields that are not in the body keep their values.',
  }),
  get('/blocked', rpc(NumberAdminDefinition, 'listBlocked'), {
    ...uncounted,
    query: schemas.listBlocked,
    summary: 'List blocked users',
    ...pageUnder('blocked', is.node({ wa_id: is.text('15550100777') })),
    notes: 'Pages by cursor, in the order of the upstream.',
  }),
  post('/blocked', rpc(NumberAdminDefinition, 'blockUsers'), {
    ...uncounted,
    body: schemas.blockUsers,
    reply: ({ done, failed }) => ({ blocked: done, failed }),
    summary: 'Block users',
    answer: is.record({ blocked: is.list(blockedUser), failed: is.list(failedUser) }),
    example: { users: ['+15550100777'] },
    notes: PARTLY,
  }),
  del('/blocked', rpc(NumberAdminDefinition, 'unblockUsers'), {
    ...uncounted,
    body: schemas.blockUsers,
    reply: ({ done, failed }) => ({ unblocked: done, failed }),
    summary: 'Unblock users',
    answer: is.record({ unblocked: is.list(blockedUser), failed: is.list(failedUser) }),
    example: { users: ['+15550100777'] },
    notes: PARTLY,
  }),
  get('/commerce-settings', rpc(NumberAdminDefinition, 'getCommerceSettings'), {
    ...uncounted,
    reply: (commerce_settings) => ({ commerce_settings }),
    summary: 'Retrieve the commerce settings of a number',
    answer: is.record({
      commerce_settings: is.record({
        is_catalog_visible: is.flag(false),
        is_cart_enabled: is.flag(true),
      }),
    }),
    notes: 'Whether the catalogue and the cart are shown.',
  }),
  post('/commerce-settings', rpc(NumberAdminDefinition, 'updateCommerceSettings'), {
    ...uncounted,
    body: schemas.updateCommerce,
    audit: { values: ['is_catalog_visible', 'is_cart_enabled'] },
    summary: 'Update the commerce settings of a number',
    answer: is.nothing,
    example: { is_catalog_visible: true, is_cart_enabled: false },
    notes: 'A field that is left out keeps its value.',
  }),
  get('/settings', rpc(NumberAdminDefinition, 'getSettings'), {
    ...uncounted,
    summary: 'Retrieve the settings of a number',
    ...nodeUnder(
      'settings',
      is.node({
        calling: is.node({
          status: is.open(['ENABLED', 'DISABLED']),
          call_icon_visibility: is.text('DEFAULT'),
          callback_permission_status: is.text('ENABLED'),
        }),
        storage_configuration: is.node({ status: is.text('disabled') }),
      }),
    ),
    notes:
      'All settings as the upstream has them: keys that this reference does not name may appear.',
  }),
  post('/settings', rpc(NumberAdminDefinition, 'updateSettings'), {
    ...uncounted,
    body: schemas.updateSettings,
    request: ({ body, target }) => ({ settings: body, target }),
    summary: 'Update the settings of a number',
    answer: is.nothing,
    example: { calling: { status: 'ENABLED' } },
    notes:
      'The upstream accepts one group of settings at a time. If one fails, `details.applied` lists the groups that are already in effect.',
  }),
  get('/phone-status', rpc(NumberAdminDefinition, 'getPhoneStatus'), {
    ...uncounted,
    query: schemas.phoneStatus,
    summary: 'Retrieve the status of a number',
    ...nodeUnder(
      'phone',
      is.node({
        display_phone_number: is.text('+1 555-010-0001'),
        verified_name: is.text('Example Shop'),
        status: is.open(['CONNECTED', 'PENDING']),
        quality_rating: is.quality_rating,
        messaging_limit_tier: is.messaging_limit_tier,
        is_official_business_account: is.flag(false),
        is_pin_enabled: is.flag(false),
        name_status: is.text('APPROVED'),
        code_verification_status: is.text('VERIFIED'),
        platform_type: is.open(['CLOUD_API', 'NOT_APPLICABLE']),
        is_on_biz_app: is.flag(true, 'True for a coexistence number.'),
      }),
    ),
    notes: '`is_on_biz_app` tells whether the number is in coexistence; `platform_type` does not.',
  }),
];
