import { id, limit, object, text } from '../parts/inputs';
import type { Schema } from '../parts/schema';

/** Sanity alone: shorter limits of texts are the upstream's to judge. */
const TEXT_MAX = 4_096;
const CURSOR_MAX = 2_048;
/** The upstream's largest page of blocked users. */
const BLOCKED_PAGE_MAX = 100;
/** Limits: ice breakers, users per blocking request. */
const PROMPTS_MAX = 4;
const USERS_MAX = 1_000;
/** The upstream's own limit. */
const COMMANDS_MAX = 30;
/** A BSUID has at most 135 characters, a prefix included fewer than this. */
const USER_MAX = 200;

/** One page of a list, as the upstream pages it. */
export const page = (limit_max: number): Schema =>
  object({
    limit: limit(undefined, limit_max),
    after: text(CURSOR_MAX, 'paging.cursors.after of the page before'),
    before: text(CURSOR_MAX, 'paging.cursors.before of the page after'),
  });

/** Multi-number rule: another number of the same business account. */
export const otherNumber = {
  phone_number_id: id('another number of the same business account; checked upstream'),
};

const prefilled_message = text(TEXT_MAX, 'the text that stands ready when the code is opened');

export const createQrCode = object(
  {
    prefilled_message,
    image_format: { type: 'string', enum: ['PNG', 'SVG'], default: 'PNG' },
  },
  ['prefilled_message'],
);

export const updateQrCode = object({ prefilled_message }, ['prefilled_message']);

export const updateAutomation = object({
  enable_welcome_message: { type: 'boolean' },
  prompts: {
    type: 'array',
    maxItems: PROMPTS_MAX,
    items: text(TEXT_MAX),
    description: 'ice breakers; empty clears them, left out leaves them',
  },
  commands: {
    type: 'array',
    maxItems: COMMANDS_MAX,
    items: object({ command_name: text(TEXT_MAX), command_description: text(TEXT_MAX) }),
    description: '{command_name, command_description}; empty clears them, left out leaves them',
  },
});

export const listBlocked = page(BLOCKED_PAGE_MAX);

export const blockUsers = object(
  {
    users: {
      type: 'array',
      maxItems: USERS_MAX,
      items: text(USER_MAX),
      description: 'phone numbers or BSUIDs of users who wrote in the last 24 hours',
    },
  },
  ['users'],
);

export const updateCommerce = object({
  is_catalog_visible: { type: 'boolean' },
  is_cart_enabled: { type: 'boolean' },
});

/** Shown keys are checked, everything else is passed on. */
export const updateSettings = object({
  calling: object({
    status: { type: 'string', enum: ['ENABLED', 'DISABLED'] },
    call_icon_visibility: text(TEXT_MAX, 'such as DEFAULT'),
    callback_permission_status: text(TEXT_MAX, 'such as ENABLED'),
  }),
  storage_configuration: { type: 'object' },
});

export const phoneStatus = object({ ...otherNumber });
