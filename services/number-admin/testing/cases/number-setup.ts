// QR codes, conversational automation, commerce, settings, status.
import { NUMBER } from '../build';
import { OK, ON_NUMBER, PAGING, QR, type Case } from './case';

export const numberSetup: Case[] = [
  {
    method: 'listQrCodes',
    answers: [
      { data: [{ ...QR, qr_image_url: 'https://cdn.example/1.png' }], paging: PAGING },
      { data: [{ ...QR, code: 'ZZ' }], paging: { cursors: { after: 'a2' } } },
    ],
    sent: [
      {
        method: 'GET',
        path: `${ON_NUMBER}/message_qrdls`,
        query: {
          fields: 'code,prefilled_message,deep_link_url,qr_image_url.format(PNG)',
          limit: '25',
        },
      },
      { method: 'GET', query: expect.objectContaining({ after: 'a1', limit: '25' }) },
    ],
    reply: {
      qr_codes: [
        { ...QR, qr_image_url: 'https://cdn.example/1.png' },
        { ...QR, code: 'ZZ', qr_image_url: undefined },
      ],
    },
  },
  {
    method: 'createQrCode',
    request: { prefilled_message: 'Hi' },
    answers: [{ ...QR, qr_image_url: 'https://cdn.example/1.png' }],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/message_qrdls`,
        query: {},
        body: { prefilled_message: 'Hi', generate_qr_image: 'PNG' },
      },
    ],
    reply: { ...QR, qr_image_url: 'https://cdn.example/1.png' },
  },
  {
    method: 'createQrCode',
    request: { prefilled_message: 'Hi', image_format: 'SVG' },
    answers: [QR],
    sent: [{ body: { prefilled_message: 'Hi', generate_qr_image: 'SVG' } }],
    reply: { ...QR, qr_image_url: undefined },
  },
  {
    method: 'updateQrCode',
    request: { code: QR.code, prefilled_message: 'Hello' },
    answers: [{ ...QR, prefilled_message: 'Hello' }],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/message_qrdls`,
        body: { code: QR.code, prefilled_message: 'Hello' },
      },
    ],
    reply: { ...QR, prefilled_message: 'Hello', qr_image_url: undefined },
  },
  {
    method: 'deleteQrCode',
    request: { code: '../x' },
    answers: [{ success: 'true' }],
    sent: [{ method: 'DELETE', path: `${ON_NUMBER}/message_qrdls/..%2Fx`, body: undefined }],
    reply: {},
  },
  {
    method: 'getConversationalAutomation',
    answers: [
      {
        id: NUMBER,
        conversational_automation: {
          enable_welcome_message: true,
          prompts: ['Opening hours'],
          commands: [{ command_name: 'help', command_description: 'Get help' }],
        },
      },
    ],
    sent: [{ method: 'GET', path: ON_NUMBER, query: { fields: 'conversational_automation' } }],
    reply: {
      enable_welcome_message: true,
      prompts: ['Opening hours'],
      commands: [{ command_name: 'help', command_description: 'Get help' }],
    },
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
    answers: [OK],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/conversational_automation`,
        query: {},
        body: { prompts: [] },
      },
    ],
    reply: {},
  },
  {
    method: 'updateConversationalAutomation',
    request: {
      enable_welcome_message: false,
      commands: { items: [{ command_name: 'help', command_description: 'Get help' }] },
    },
    answers: [OK],
    sent: [
      {
        body: {
          enable_welcome_message: false,
          commands: [{ command_name: 'help', command_description: 'Get help' }],
        },
      },
    ],
    reply: {},
  },
  {
    method: 'getCommerceSettings',
    answers: [{ data: [{ is_cart_enabled: false, is_catalog_visible: true, id: '2' }] }],
    sent: [{ method: 'GET', path: `${ON_NUMBER}/whatsapp_commerce_settings`, query: {} }],
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
    answers: [OK],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/whatsapp_commerce_settings`,
        query: { is_cart_enabled: 'false' },
        body: undefined,
      },
    ],
    reply: {},
  },
  {
    method: 'getSettings',
    answers: [{ calling: { status: 'ENABLED' }, brand_new: { deep: [1, null, { x: false }] } }],
    sent: [{ method: 'GET', path: `${ON_NUMBER}/settings`, query: {} }],
    reply: {
      fields: { calling: { status: 'ENABLED' }, brand_new: { deep: [1, null, { x: false }] } },
    },
  },
  {
    method: 'updateSettings',
    request: {
      settings: {
        storage_configuration: { status: 'DEFAULT' },
        calling: { status: 'ENABLED', sip: {} },
      },
    },
    answers: [OK, OK],
    sent: [
      {
        method: 'POST',
        path: `${ON_NUMBER}/settings`,
        body: { storage_configuration: { status: 'DEFAULT' } },
      },
      { method: 'POST', body: { calling: { status: 'ENABLED', sip: {} } } },
    ],
    reply: {},
  },
  {
    method: 'getPhoneStatus',
    answers: [
      {
        id: NUMBER,
        status: 'CONNECTED',
        is_on_biz_app: true,
        whatsapp_business_manager_messaging_limit: 'TIER_UNLIMITED',
      },
    ],
    sent: [
      {
        method: 'GET',
        path: ON_NUMBER,
        query: {
          fields:
            'display_phone_number,verified_name,status,quality_rating,is_official_business_account,' +
            'is_pin_enabled,name_status,code_verification_status,platform_type,is_on_biz_app,' +
            'whatsapp_business_manager_messaging_limit',
        },
      },
    ],
    reply: {
      fields: {
        id: NUMBER,
        status: 'CONNECTED',
        is_on_biz_app: true,
        messaging_limit_tier: 'UNLIMITED',
      },
    },
  },
];
