import { choice, notEmpty, object, otherNumber, page, text } from '../parts/inputs';
import { blocked } from '../parts/rules';

/** Upper bound only: the upstream has lower limits. */
const TEXT_MAX = 4_096;
/** The upstream's largest page of blocked users. */
const BLOCKED_PAGE_MAX = 100;
/** Contract 11.2: ice breakers, users per blocking request. */
const PROMPTS_MAX = 4;
const USERS_MAX = 1_000;
/** Limit of the upstream. */
const COMMANDS_MAX = 30;
/** A BSUID with a prefix is shorter than this. */
const USER_MAX = 200;
/** Feature groups of the settings in one request. */
const GROUPS_MAX = 10;

const prefilled_message = text(TEXT_MAX, 'Text that the chat starts with when the code is opened.');

const image_format = choice(['PNG', 'SVG'], 'Format of the QR image.', 'PNG');

export const createQrCode = object({ prefilled_message, image_format }, ['prefilled_message']);

export const listQrCodes = object({ image_format });

export const updateQrCode = object({ prefilled_message }, ['prefilled_message']);

export const updateAutomation = notEmpty({
  enable_welcome_message: {
    type: 'boolean',
    description: 'Whether the welcome message is enabled.',
  },
  prompts: {
    type: 'array',
    maxItems: PROMPTS_MAX,
    items: text(TEXT_MAX),
    description:
      'Ice breakers. An empty array removes all of them; leave the field out to keep them.',
  },
  commands: {
    type: 'array',
    maxItems: COMMANDS_MAX,
    items: {
      ...object({ command_name: text(TEXT_MAX), command_description: text(TEXT_MAX) }),
      published: { required: ['command_name', 'command_description'] },
    },
    description:
      'Commands: `{command_name, command_description}`. An empty array removes all of them; leave the field out to keep them.',
  },
});

export const listBlocked = page(BLOCKED_PAGE_MAX);

export const blockUsers = object(
  {
    users: {
      type: 'array',
      maxItems: USERS_MAX,
      items: { ...text(USER_MAX), published: blocked },
      description:
        'Phone numbers or BSUIDs. Only users who sent a message in the last 24 hours can be blocked.',
    },
  },
  ['users'],
);

export const updateCommerce = notEmpty({
  is_catalog_visible: { type: 'boolean', description: 'Whether the catalogue is shown.' },
  is_cart_enabled: { type: 'boolean', description: 'Whether the cart is enabled.' },
});

/** Only the keys that the contract shows are checked: the service takes any feature group. */
export const updateSettings = {
  ...object({
    calling: object({
      status: choice(['ENABLED', 'DISABLED']),
      call_icon_visibility: text(TEXT_MAX, 'Visibility of the call icon, for example `DEFAULT`.'),
      callback_permission_status: text(
        TEXT_MAX,
        'Status of the call-back permission, for example `ENABLED`.',
      ),
    }),
    storage_configuration: { type: 'object', description: 'Storage settings.' },
  }),
  published: { minProperties: 1, maxProperties: GROUPS_MAX, additionalProperties: true },
};

export const phoneStatus = object({ ...otherNumber });
