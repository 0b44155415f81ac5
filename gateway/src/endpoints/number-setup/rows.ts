import {
  NumberAdminDefinition,
  type BlockResult,
  type CommerceSettings,
} from '@bmg/proto/numberadmin';
import * as docs from './docs';
import * as schemas from './schemas';
import { nodeUnder, pageUnder, uncounted } from '../diagnostics/rows';
import { del, get, post, put, rpc, type Fields, type Input } from '../endpoint';

/** Two thousand codes come in eighty pages. */
const QR_CODES_TIMEOUT_MS = 60_000;

/** A list in the message cannot be absent: what is left out differs from what is empty. */
const automationRequest = ({ body, target }: Input): Fields => ({
  target,
  enable_welcome_message: body['enable_welcome_message'],
  ...(body['prompts'] !== undefined && { prompts: { items: body['prompts'] } }),
  ...(body['commands'] !== undefined && { commands: { items: body['commands'] } }),
});

export const numberSetup = [
  get('/qr-codes', rpc(NumberAdminDefinition, 'listQrCodes'), {
    ...uncounted,
    timeout_ms: QR_CODES_TIMEOUT_MS,
    docs: docs.listQrCodes,
    summary: 'List the number’s QR codes',
  }),
  post('/qr-codes', rpc(NumberAdminDefinition, 'createQrCode'), {
    ...uncounted,
    body: schemas.createQrCode,
    status: 201,
    docs: docs.createQrCode,
    summary: 'Create a QR code that opens a chat with a prefilled message',
  }),
  put('/qr-codes/:code', rpc(NumberAdminDefinition, 'updateQrCode'), {
    ...uncounted,
    body: schemas.updateQrCode,
    docs: docs.updateQrCode,
    summary: 'Change the prefilled message of a QR code; image and link stay',
  }),
  del('/qr-codes/:code', rpc(NumberAdminDefinition, 'deleteQrCode'), {
    ...uncounted,
    docs: docs.deleteQrCode,
    summary: 'Delete a QR code',
  }),
  get('/conversational-automation', rpc(NumberAdminDefinition, 'getConversationalAutomation'), {
    ...uncounted,
    docs: docs.getConversationalAutomation,
    summary: 'Read welcome message, ice breakers and commands',
  }),
  post('/conversational-automation', rpc(NumberAdminDefinition, 'updateConversationalAutomation'), {
    ...uncounted,
    body: schemas.updateAutomation,
    request: automationRequest,
    docs: docs.updateConversationalAutomation,
    summary: 'Change welcome message, ice breakers or commands; what is left out stays',
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
    reply: ({ done, failed }: BlockResult) => ({ blocked: done, failed }),
    docs: docs.blockUsers,
    summary: 'Block users; success does not mean that every one was blocked',
  }),
  del('/blocked', rpc(NumberAdminDefinition, 'unblockUsers'), {
    ...uncounted,
    body: schemas.blockUsers,
    reply: ({ done, failed }: BlockResult) => ({ unblocked: done, failed }),
    docs: docs.unblockUsers,
    summary: 'Unblock users; success does not mean that every one was unblocked',
  }),
  get('/commerce-settings', rpc(NumberAdminDefinition, 'getCommerceSettings'), {
    ...uncounted,
    reply: (commerce_settings: CommerceSettings) => ({ commerce_settings }),
    docs: docs.getCommerceSettings,
    summary: 'Read whether the catalogue is shown and the cart is on',
  }),
  post('/commerce-settings', rpc(NumberAdminDefinition, 'updateCommerceSettings'), {
    ...uncounted,
    body: schemas.updateCommerce,
    docs: docs.updateCommerceSettings,
    summary: 'Show or hide the catalogue, switch the cart on or off',
  }),
  get('/settings', rpc(NumberAdminDefinition, 'getSettings'), {
    ...uncounted,
    reply: nodeUnder('settings'),
    docs: docs.getSettings,
    summary: 'Read the number’s whole settings node',
  }),
  post('/settings', rpc(NumberAdminDefinition, 'updateSettings'), {
    ...uncounted,
    body: schemas.updateSettings,
    request: ({ body, target }) => ({ settings: body, target }),
    docs: docs.updateSettings,
    summary: 'Change calling, storage or other settings of the number',
  }),
  get('/phone-status', rpc(NumberAdminDefinition, 'getPhoneStatus'), {
    ...uncounted,
    query: schemas.phoneStatus,
    reply: nodeUnder('phone'),
    docs: docs.getPhoneStatus,
    summary: 'Read the number’s status, quality, limits and verification',
  }),
];
