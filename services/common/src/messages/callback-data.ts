// The `biz_opaque_callback_data` of every send: the upstream returns it with each status of the
// message, so a status leads back to the partner and the request even if a crash lost the record of
// the send. A partner with an upstream token can write any value: check that the partner
// owns the number, and look for the request with both.
const PATTERN = /^bmg1:([^:]+):(.+)$/s;

export interface CallbackData {
  partner_id: string;
  request_id: string;
}

export const writeCallbackData = (partner_id: string, request_id: string): string =>
  `bmg1:${partner_id}:${request_id}`;

/** Undefined for a message that was not sent through this service. */
export function readCallbackData(data: string | undefined): CallbackData | undefined {
  const match = data === undefined ? null : PATTERN.exec(data);
  return match ? { partner_id: match[1] as string, request_id: match[2] as string } : undefined;
}
