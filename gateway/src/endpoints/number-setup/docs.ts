import type { RowDocs } from '../endpoint';
import * as is from '../parts/answers';

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
const qrTrait = { optional: ['qr_image_url'] };

export const listQrCodes: RowDocs = {
  answer: is.record({ qr_codes: is.list(is.record(qrFields, { ...qrTrait, title: 'QrCode' })) }),
  notes:
    'The link `qr_image_url` expires. Its format is `image_format`, whatever the code was created with.',
};

export const createQrCode: RowDocs = {
  answer: is.record(qrFields, qrTrait),
  example: { prefilled_message: 'Hello!', image_format: 'PNG' },
  notes: 'The link `qr_image_url` expires; `deep_link_url` stays.',
};

export const updateQrCode: RowDocs = {
  params: codeParams,
  answer: is.record(qrFields, qrTrait),
  example: { prefilled_message: 'Hello again!' },
  notes: 'The image and the link stay the same.',
};

export const deleteQrCode: RowDocs = {
  params: codeParams,
  answer: is.nothing,
  notes: 'A deleted code cannot be restored.',
};

const command = is.record({
  command_name: is.text('hours'),
  command_description: is.text('When we are open'),
});

export const getConversationalAutomation: RowDocs = {
  answer: is.record({
    enable_welcome_message: is.flag(true),
    prompts: is.list(is.text('When are you open?'), 'Ice breakers.'),
    commands: is.list(command),
  }),
  notes: 'What the number offers a contact who opens the chat.',
};

export const updateConversationalAutomation: RowDocs = {
  answer: is.nothing,
  example: { enable_welcome_message: true, prompts: ['When are you open?'] },
  notes: 'Fields that are not in the body keep their values.',
};

const user = is.node({ wa_id: is.text('15550100777') });
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

export const listBlocked: RowDocs = {
  answer: is.record(
    { blocked: is.list(user), paging: is.paging, limit: is.used_limit },
    { optional: ['limit'] },
  ),
  notes: 'Pages by cursor, in the order of the upstream.',
};

export const blockUsers: RowDocs = {
  answer: is.record({ blocked: is.list(blockedUser), failed: is.list(failedUser) }),
  example: { users: ['+15550100777'] },
  notes: PARTLY,
};

export const unblockUsers: RowDocs = {
  answer: is.record({ unblocked: is.list(blockedUser), failed: is.list(failedUser) }),
  example: { users: ['+15550100777'] },
  notes: PARTLY,
};

export const getCommerceSettings: RowDocs = {
  answer: is.record({
    commerce_settings: is.record({
      is_catalog_visible: is.flag(false),
      is_cart_enabled: is.flag(true),
    }),
  }),
  notes: 'Whether the catalogue and the cart are shown.',
};

export const updateCommerceSettings: RowDocs = {
  answer: is.nothing,
  example: { is_catalog_visible: true, is_cart_enabled: false },
  notes: 'A field that is left out keeps its value.',
};

export const getSettings: RowDocs = {
  answer: is.record({
    settings: is.node({
      calling: is.node({
        status: is.open(['ENABLED', 'DISABLED']),
        call_icon_visibility: is.text('DEFAULT'),
        callback_permission_status: is.text('ENABLED'),
      }),
      storage_configuration: is.node({ status: is.text('disabled') }),
    }),
  }),
  notes:
    'All settings as the upstream has them: keys that this reference does not name may appear.',
};

export const updateSettings: RowDocs = {
  answer: is.nothing,
  example: { calling: { status: 'ENABLED' } },
  notes:
    'The upstream accepts one group of settings at a time. If one fails, `details.applied` lists the groups that are already in effect.',
};

export const getPhoneStatus: RowDocs = {
  answer: is.record({
    phone: is.node({
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
  }),
  notes: '`is_on_biz_app` tells whether the number is in coexistence; `platform_type` does not.',
};
