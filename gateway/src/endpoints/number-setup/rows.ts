import { NumberAdminDefinition } from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { del, get, post, put, rpc, type Endpoint } from '../endpoint';
import { nodeUnder, pageUnder, uncounted } from '../parts/rows';

/** A number can have 2,000 codes, on 80 upstream pages. */
const QR_CODES_TIMEOUT_MS = 60_000;

export const numberSetup: Endpoint[] = [
  get('/qr-codes', rpc(NumberAdminDefinition, 'listQrCodes'), {
    ...uncounted,
    timeout_ms: QR_CODES_TIMEOUT_MS,
    query: schemas.listQrCodes,
    docs: docs.listQrCodes,
    summary: 'List the QR codes of a number',
  }),
  post('/qr-codes', rpc(NumberAdminDefinition, 'createQrCode'), {
    ...uncounted,
    body: schemas.createQrCode,
    audit: { ids: { code: 'code' } },
    status: 201,
    docs: docs.createQrCode,
    summary: 'Create a QR code that opens a chat with a prefilled message',
  }),
  put('/qr-codes/:code', rpc(NumberAdminDefinition, 'updateQrCode'), {
    ...uncounted,
    body: schemas.updateQrCode,
    docs: docs.updateQrCode,
    summary: 'Update the prefilled message of a QR code',
  }),
  del('/qr-codes/:code', rpc(NumberAdminDefinition, 'deleteQrCode'), {
    ...uncounted,
    docs: docs.deleteQrCode,
    summary: 'Delete a QR code',
  }),
  get('/conversational-automation', rpc(NumberAdminDefinition, 'getConversationalAutomation'), {
    ...uncounted,
    docs: docs.getConversationalAutomation,
    summary: 'Retrieve welcome message, ice breakers and commands',
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
    docs: docs.updateConversationalAutomation,
    summary: 'Update welcome message, ice breakers or commands',
  }),
  get('/blocked', rpc(NumberAdminDefinition, 'listBlocked'), {
    ...uncounted,
    query: schemas.listBlocked,
    reply: pageUnder('blocked'),
    docs: docs.listBlocked,
    summary: 'List blocked users',
  }),
  post('/blocked', rpc(NumberAdminDefinition, 'blockUsers'), {
    ...uncounted,
    body: schemas.blockUsers,
    reply: ({ done, failed }) => ({ blocked: done, failed }),
    docs: docs.blockUsers,
    summary: 'Block users',
  }),
  del('/blocked', rpc(NumberAdminDefinition, 'unblockUsers'), {
    ...uncounted,
    body: schemas.blockUsers,
    reply: ({ done, failed }) => ({ unblocked: done, failed }),
    docs: docs.unblockUsers,
    summary: 'Unblock users',
  }),
  get('/commerce-settings', rpc(NumberAdminDefinition, 'getCommerceSettings'), {
    ...uncounted,
    reply: (commerce_settings) => ({ commerce_settings }),
    docs: docs.getCommerceSettings,
    summary: 'Retrieve the commerce settings of a number',
  }),
  post('/commerce-settings', rpc(NumberAdminDefinition, 'updateCommerceSettings'), {
    ...uncounted,
    body: schemas.updateCommerce,
    audit: { values: ['is_catalog_visible', 'is_cart_enabled'] },
    docs: docs.updateCommerceSettings,
    summary: 'Update the commerce settings of a number',
  }),
  get('/settings', rpc(NumberAdminDefinition, 'getSettings'), {
    ...uncounted,
    reply: nodeUnder('settings'),
    docs: docs.getSettings,
    summary: 'Retrieve the settings of a number',
  }),
  post('/settings', rpc(NumberAdminDefinition, 'updateSettings'), {
    ...uncounted,
    body: schemas.updateSettings,
    request: ({ body, target }) => ({ settings: body, target }),
    docs: docs.updateSettings,
    summary: 'Update the settings of a number',
  }),
  get('/phone-status', rpc(NumberAdminDefinition, 'getPhoneStatus'), {
    ...uncounted,
    query: schemas.phoneStatus,
    reply: nodeUnder('phone'),
    docs: docs.getPhoneStatus,
    summary: 'Retrieve the status of a number',
  }),
];
