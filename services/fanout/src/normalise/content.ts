// The parts that all message events share: the type and the text.

import {
  isObject,
  objectOf,
  stringOf,
  toText,
  type JsonObject,
} from '@bmg/common/upstream-webhook';

export function typeOf(message: JsonObject): string | null {
  return toText(message.type);
}

/**
 * The text, a media caption or a button's text. It is null for order and interactive messages
 * (contract 12.2), and for an edit, whose new text is not a new message: it stays
 * in `raw.message`.
 */
export function textOf(message: JsonObject): string | null {
  const type = typeOf(message);
  if (type === null || type === 'text') return stringOf(objectOf(message.text)?.body);
  if (type === 'order' || type === 'interactive') return null;
  const content = Object.hasOwn(message, type) ? message[type] : null;
  if (!isObject(content)) return null;
  return stringOf(type === 'button' ? content.text : content.caption);
}
