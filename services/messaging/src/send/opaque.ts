// What a send carries to the upstream and back in its statuses: who sent it and under which request, so
// that a status can rebuild the record that a crash cut off.
const PREFIX = 'bmg1';

export const opaqueData = (partner_id: string, request_id: string): string =>
  `${PREFIX}:${partner_id}:${request_id}`;

/** Undefined for data that is not ours. */
export function readOpaqueData(
  data: unknown,
): { partner_id: string; request_id: string } | undefined {
  if (typeof data !== 'string') return undefined;
  const [prefix, partner_id, request_id] = data.split(':');
  return prefix === PREFIX && partner_id && request_id ? { partner_id, request_id } : undefined;
}
