// QR codes, conversational automation, commerce, settings, status.
import { NUMBER } from '../build';
import { del, get, ON_NUMBER, PAGING, post, QR, type Case } from './case';

const CODES = `${ON_NUMBER}/message_qrdls`;
const PICTURED = { ...QR, qr_image_url: 'https://cdn.example/1.png' };
const HELP = [{ command_name: 'help', command_description: 'Get help' }];
const AUTOMATION = { enable_welcome_message: true, prompts: ['Opening hours'], commands: HELP };
const COMMERCE = `${ON_NUMBER}/whatsapp_commerce_settings`;
const SETTINGS = { calling: { status: 'ENABLED' }, brand_new: { deep: [1, null, { x: false }] } };
const CALLING = { status: 'ENABLED', sip: {} };
const CONNECTED = { id: NUMBER, status: 'CONNECTED', is_on_biz_app: true };

export const numberSetup: Case[] = [
  {
    method: 'listQrCodes',
    answers: [
      { data: [PICTURED], paging: PAGING },
      { data: [{ ...QR, code: 'ZZ' }], paging: { cursors: { after: 'a2' } } },
    ],
    sent: [
      get(CODES, {
        fields: 'code,prefilled_message,deep_link_url,qr_image_url.format(PNG)',
        limit: '25',
      }),
      { method: 'GET', query: expect.objectContaining({ after: 'a1', limit: '25' }) },
    ],
    reply: { qr_codes: [PICTURED, { ...QR, code: 'ZZ', qr_image_url: undefined }] },
  },
  {
    method: 'createQrCode',
    request: { prefilled_message: 'Hi' },
    answers: [PICTURED],
    sent: [post(CODES, { prefilled_message: 'Hi', generate_qr_image: 'PNG' })],
    reply: PICTURED,
  },
  {
    method: 'createQrCode',
    request: { prefilled_message: 'Hi', image_format: 'SVG' },
    answers: [QR],
    sent: [post(CODES, { prefilled_message: 'Hi', generate_qr_image: 'SVG' })],
    reply: { ...QR, qr_image_url: undefined },
  },
  {
    method: 'updateQrCode',
    request: { code: QR.code, prefilled_message: 'Hello' },
    answers: [{ ...QR, prefilled_message: 'Hello' }],
    sent: [post(CODES, { code: QR.code, prefilled_message: 'Hello' })],
    reply: { ...QR, prefilled_message: 'Hello', qr_image_url: undefined },
  },
  {
    method: 'deleteQrCode',
    request: { code: '../x' },
    answers: [{ success: 'true' }],
    sent: [del(`${CODES}/..%2Fx`)],
  },
  {
    method: 'getConversationalAutomation',
    answers: [{ id: NUMBER, conversational_automation: AUTOMATION }],
    sent: [get(ON_NUMBER, { fields: 'conversational_automation' })],
    reply: AUTOMATION,
  },
  {
    method: 'getConversationalAutomation',
    answers: [{ id: NUMBER }],
    sent: [{ method: 'GET' }],
    reply: { enable_welcome_message: false, prompts: [], commands: [] },
  },
  {
    method: 'updateConversationalAutomation',
    request: { prompts: { items: [] } },
    sent: [post(`${ON_NUMBER}/conversational_automation`, { prompts: [] })],
  },
  {
    method: 'updateConversationalAutomation',
    request: { enable_welcome_message: false, commands: { items: HELP } },
    sent: [{ body: { enable_welcome_message: false, commands: HELP } }],
  },
  {
    method: 'getCommerceSettings',
    answers: [{ data: [{ is_cart_enabled: false, is_catalog_visible: true, id: '2' }] }],
    sent: [get(COMMERCE)],
    reply: { is_cart_enabled: false, is_catalog_visible: true },
  },
  {
    method: 'getCommerceSettings',
    answers: [{ data: [] }],
    sent: [{ method: 'GET' }],
    reply: { is_cart_enabled: true, is_catalog_visible: false },
  },
  {
    method: 'updateCommerceSettings',
    request: { is_cart_enabled: false },
    sent: [{ ...post(COMMERCE), query: { is_cart_enabled: 'false' } }],
  },
  {
    method: 'getSettings',
    answers: [SETTINGS],
    sent: [get(`${ON_NUMBER}/settings`)],
    reply: { fields: SETTINGS },
  },
  {
    method: 'updateSettings',
    request: {
      settings: { storage_configuration: {}, calling: CALLING, unheard_of: { on: true } },
    },
    answers: [{ success: true }, { success: true }, { success: true }],
    sent: [
      post(`${ON_NUMBER}/settings`, { storage_configuration: {} }),
      post(`${ON_NUMBER}/settings`, { calling: CALLING }),
      post(`${ON_NUMBER}/settings`, { unheard_of: { on: true } }),
    ],
  },
  {
    method: 'getPhoneStatus',
    answers: [{ ...CONNECTED, whatsapp_business_manager_messaging_limit: 'TIER_UNLIMITED' }],
    sent: [
      get(ON_NUMBER, {
        fields:
          'display_phone_number,verified_name,status,quality_rating,is_official_business_account,' +
          'is_pin_enabled,name_status,code_verification_status,platform_type,is_on_biz_app,' +
          'whatsapp_business_manager_messaging_limit',
      }),
    ],
    reply: { fields: { ...CONNECTED, messaging_limit_tier: 'UNLIMITED' } },
  },
];
