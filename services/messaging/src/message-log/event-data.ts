// Reads the envelope of a logged event.
import { isObject, type Json } from '@bmg/common/upstream';

export function eventData(envelope: string): Json {
  const { data } = JSON.parse(envelope) as Json;
  return isObject(data) ? data : {};
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
