// Checks the content of a message as the platform does, one function per type.
import type { Call } from '../core';
import { invalidParameter, upstreamError } from '../errors';
import type { BusinessNumber, JsonObject } from '../types';
import { checkInteractive } from './message-interactive';
import { checkTexts, isObject, messageText } from './parameters';

const TEXT_MAX = 4096;
const CONTACTS_MAX = 257;

const MEDIA_KEYS: Readonly<Record<string, readonly string[]>> = {
  image: ['id', 'link', 'caption'],
  video: ['id', 'link', 'caption'],
  audio: ['id', 'link', 'voice'],
  document: ['id', 'link', 'caption', 'filename'],
  sticker: ['id', 'link'],
};

type Checker = (content: JsonObject, checkMedia: (type: string, media: JsonObject) => void) => void;

const CHECKERS: Readonly<Record<string, Checker>> = {
  text: checkText,
  ...Object.fromEntries(
    Object.keys(MEDIA_KEYS).map((type): [string, Checker] => [
      type,
      (content, checkMedia) => checkMedia(type, content),
    ]),
  ),
  location: checkLocation,
  reaction: checkReaction,
  interactive: checkInteractive,
};

export function checkContent(call: Call, number: BusinessNumber, type: string): void {
  const content = call.body[type];
  const checker = CHECKERS[type];
  if (!checker && type !== 'contacts') {
    const known = [...Object.keys(CHECKERS), 'contacts', 'template'].join(', ').toUpperCase();
    throw invalidParameter(`Param type must be one of {${known}} - got "${type}".`);
  }
  if (content === undefined) {
    throw upstreamError(131008, `The parameter ${type} is required for type ${type}.`);
  }
  if (!checker) return checkContacts(content);
  if (!isObject(content)) throw invalidParameter(`Param ${type} must be a JSON object.`);
  checker(content, (kind, media) => checkMedia(kind, media, call, number));
}

function checkText(content: JsonObject): void {
  checkTexts(content, 'text', { body: TEXT_MAX });
  const preview = content['preview_url'];
  if (preview !== undefined && typeof preview !== 'boolean') {
    throw upstreamError(131009, 'text.preview_url must be a boolean');
  }
}

function checkMedia(type: string, media: JsonObject, call: Call, number: BusinessNumber): void {
  const unknown = Object.keys(media).find((key) => !MEDIA_KEYS[type]?.includes(key));
  if (unknown) throw invalidParameter(`Unexpected key "${unknown}" on param "${type}".`);
  const { id, link } = media;
  if (id === undefined && link === undefined) {
    throw upstreamError(131008, `One of ${type}.id and ${type}.link is required.`);
  }
  if (id !== undefined && link !== undefined) {
    throw upstreamError(131009, `Only one of ${type}.id and ${type}.link may be given.`);
  }
  if (link !== undefined && (typeof link !== 'string' || !/^https?:\/\/\S+$/i.test(link))) {
    throw upstreamError(131009, `${type}.link is not a valid URL`);
  }
  if (id !== undefined) checkMediaId(type, id, call, number);
  checkTexts(media, type, { 'caption?': 1024, 'filename?': 240 });
}

/** Uploaded media belong to one business account; to others they do not exist. */
function checkMediaId(type: string, id: unknown, call: Call, number: BusinessNumber): void {
  const media = typeof id === 'string' ? call.state.media.get(id) : undefined;
  if (!media || media.waba_id !== number.waba_id || media.expires_at <= Date.now()) {
    throw upstreamError(131009, `${type}.id: media not found or expired`);
  }
}

function checkLocation(content: JsonObject): void {
  for (const [name, bound] of [
    ['latitude', 90],
    ['longitude', 180],
  ] as const) {
    const value = content[name] ?? '';
    if (value === '') throw upstreamError(131008, `The parameter location.${name} is required.`);
    const is_scalar = typeof value === 'number' || typeof value === 'string';
    if (!is_scalar || !(Math.abs(Number(value)) <= bound)) {
      throw upstreamError(131009, `location.${name} must be from -${bound} to ${bound}`);
    }
  }
  checkTexts(content, 'location', { 'name?': 1000, 'address?': 1000 });
}

function checkReaction({ message_id, emoji }: JsonObject): void {
  if (!messageText(message_id, 'reaction.message_id', 1000)?.startsWith('wamid.')) {
    throw upstreamError(131009, 'reaction.message_id is not the id of a message');
  }
  // An empty emoji removes the reaction; a missing one is an error.
  if (emoji !== '') messageText(emoji, 'reaction.emoji', 1000);
}

/** https://developers.facebook.com/docs/whatsapp/cloud-api/messages/contacts-messages */
function checkContacts(content: unknown): void {
  if (!Array.isArray(content) || content.length === 0 || content.length > CONTACTS_MAX) {
    throw upstreamError(131009, `contacts must be an array of 1 to ${CONTACTS_MAX} elements`);
  }
  for (const contact of content as unknown[]) {
    checkTexts(contact, 'contacts', { 'name.formatted_name': TEXT_MAX });
  }
}
