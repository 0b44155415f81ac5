// QR codes of a number: short links with a prefilled message.
import { numberOf, routesOf, type Call } from '../core';
import { invalid } from '../errors';
import { parseFields } from '../fields';
import { listAnswer, page } from '../paging';
import type { BusinessNumber, JsonObject, QrCode } from '../types';
import { parameter, requiredText, requireOneOf, SUCCESS } from './parameters';

export const qrCodeRoutes = routesOf('whatsapp_business_management', {
  'GET /:number/message_qrdls': listQrCodes,
  'POST /:number/message_qrdls': writeQrCode,
  'GET /:number/message_qrdls/*': readQrCode,
  'DELETE /:number/message_qrdls/*': deleteQrCode,
});

const QR_CODES_MAX = 2000;
const QR_PAGE_MAX = 25;
const PREFILLED_MAX = 140;

function showQrCode(qr: QrCode, image_format?: unknown): JsonObject {
  const file = `${qr.code}.${String(image_format).toLowerCase()}`;
  return {
    ...qr,
    ...(image_format ? { qr_image_url: `https://images.example.org/qr/${file}?oe=1` } : {}),
  };
}

function listQrCodes(call: Call): JsonObject {
  const format = imageFormatOf(call.query);
  const codes = [...numberOf(call).qr_codes.values()].reverse();
  const shown = page(codes, ({ code }) => code, call, {
    size_default: QR_PAGE_MAX,
    size_max: QR_PAGE_MAX,
  });
  return listAnswer(shown, (qr) => showQrCode(qr, format));
}

/** The image is returned only for `qr_image_url.format(PNG)`. */
function imageFormatOf(query: URLSearchParams): string | undefined {
  const field = parseFields(query.get('fields') ?? '').find(({ name }) => name === 'qr_image_url');
  return field && (field.args['format'] === 'SVG' ? 'SVG' : 'PNG');
}

function writeQrCode(call: Call): JsonObject {
  const number = numberOf(call);
  const code = parameter(call, 'code');
  const prefilled_message = requiredText(call, 'prefilled_message');
  if (prefilled_message.length > PREFILLED_MAX) {
    throw invalid(`Param prefilled_message must be at most ${PREFILLED_MAX} characters`);
  }
  if (code !== undefined) {
    const qr = qrCodeOf(number, String(code));
    qr.prefilled_message = prefilled_message;
    return showQrCode(qr);
  }
  if (number.qr_codes.size >= QR_CODES_MAX) throw invalid('The limit of QR codes is reached');
  const format = parameter(call, 'generate_qr_image');
  if (format !== undefined) requireOneOf(format, 'generate_qr_image', ['PNG', 'SVG']);
  const fresh = call.core.ids.qrCode();
  const deep_link_url = `https://wa.me/message/${fresh}`;
  const qr: QrCode = { code: fresh, prefilled_message, deep_link_url };
  number.qr_codes.set(fresh, qr);
  return showQrCode(qr, format);
}

function qrCodeOf(number: BusinessNumber, code: string): QrCode {
  const qr = number.qr_codes.get(code);
  if (!qr) throw invalid(`The QR code ${code} does not exist`);
  return qr;
}

function readQrCode(call: Call): JsonObject {
  const qr = qrCodeOf(numberOf(call), call.segments[2] as string);
  return { data: [showQrCode(qr, imageFormatOf(call.query))] };
}

function deleteQrCode(call: Call): JsonObject {
  const number = numberOf(call);
  number.qr_codes.delete(qrCodeOf(number, call.segments[2] as string).code);
  return SUCCESS;
}
