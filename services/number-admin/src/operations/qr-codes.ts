// QR codes of a number. Upstream an update is a POST that names the code.
import { itemsOf, unusable, type Json } from '@bmg/common/upstream';
import type { QrCode } from '@bmg/proto/numberadmin';
import type { Part } from '../tools';

/** The upstream's largest page, and as many codes as a number can have. */
const PAGES = { page_size: 25, items_max: 2_000 };
/** The upstream draws images in the request's format, whatever the code was created with. */
const fieldsIn = (image_format: string | undefined): string =>
  `code,prefilled_message,deep_link_url,qr_image_url.format(${image_format || 'PNG'})`;

function toQrCode(record: Json): QrCode {
  const text = (name: string): string => String(record[name] ?? '');
  if (text('code') === '') throw unusable('a code');
  return {
    code: text('code'),
    prefilled_message: text('prefilled_message'),
    deep_link_url: text('deep_link_url'),
    // Present if the request named an image format. The URL expires.
    qr_image_url: text('qr_image_url') || undefined,
  };
}

export const qrCodes: Part<'listQrCodes' | 'createQrCode' | 'updateQrCode' | 'deleteQrCode'> = {
  listQrCodes: {
    upstream: 'GET /{phone_number_id}/message_qrdls',
    query: ({ image_format }) => ({ fields: fieldsIn(image_format) }),
    pages: PAGES,
    reply: (body) => ({ qr_codes: itemsOf(body).map(toQrCode) }),
  },
  createQrCode: {
    upstream: 'POST /{phone_number_id}/message_qrdls',
    body: (request) => ({
      prefilled_message: request.prefilled_message,
      generate_qr_image: request.image_format || 'PNG',
    }),
    reply: toQrCode,
  },
  updateQrCode: {
    upstream: 'POST /{phone_number_id}/message_qrdls',
    body: ({ code, prefilled_message }) => ({ code, prefilled_message }),
    reply: (body, { code, prefilled_message }) => toQrCode({ code, prefilled_message, ...body }),
  },
  deleteQrCode: { upstream: 'DELETE /{phone_number_id}/message_qrdls/{code}' },
};
