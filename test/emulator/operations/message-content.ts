// Checks the content of a message as the platform does, one function per type.
import type { Call } from '../core';
import { invalidParameter, upstreamError } from '../errors';
import type { BusinessNumber, JsonObject } from '../types';
import { checkInteractive } from './message-interactive';
import { isObject, messageText } from './parameters';

export const TEXT_MAX = 4096;
export const CAPTION_MAX = 1024;
const FILENAME_MAX = 240;
const CONTACTS_MAX = 257;

export const GROUP_TYPES: readonly string[] = [
  'text',
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'template',
];

const MEDIA_KEYS: Readonly<Record<string, readonly string[]>> = {
  image: ['id', 'link', 'caption'],
  video: ['id', 'link', 'caption'],
  audio: ['id', 'link', 'voice'],
  document: ['id', 'link', 'caption', 'filename'],
  sticker: ['id', 'link'],
};

type Checker = (content: JsonObject, call: Call, number: BusinessNumber) => void;

const CHECKERS: Readonly<Record<string, Checker>> = {
  text: checkText,
  image: (content, call, number) => checkMedia('image', content, call, number),
  video: (content, call, number) => checkMedia('video', content, call, number),
  audio: (content, call, number) => checkMedia('audio', content, call, number),
  document: (content, call, number) => checkMedia('document', content, call, number),
  sticker: (content, call, number) => checkMedia('sticker', content, call, number),
  location: checkLocation,
  reaction: checkReaction,
  interactive: (content, call, number) =>
    checkInteractive(content, (type, media) => checkMedia(type, media, call, number)),
};

export function checkContent(call: Call, number: BusinessNumber, type: string): void {
  const content = call.body[type];
  if (type === 'contacts') return checkContacts(content);
  const checker = CHECKERS[type];
  if (!checker) {
    const known = [...Object.keys(CHECKERS), 'contacts', 'template'].join(', ').toUpperCase();
    throw invalidParameter(`Param type must be one of {${known}} - got "${type}".`);
  }
  if (content === undefined) {
    throw upstreamError(131008, `The parameter ${type} is required for type ${type}.`);
  }
  if (!isObject(content)) throw invalidParameter(`Param ${type} must be a JSON object.`);
  checker(content, call, number);
}

function checkText(content: JsonObject): void {
  messageText(content['body'], 'text.body', TEXT_MAX);
  const preview = content['preview_url'];
  if (preview !== undefined && typeof preview !== 'boolean') {
    throw upstreamError(131009, 'text.preview_url must be a boolean');
  }
}

function checkMedia(type: string, media: JsonObject, call: Call, number: BusinessNumber): void {
  const keys = MEDIA_KEYS[type] as readonly string[];
  for (const key of Object.keys(media)) {
    if (!keys.includes(key)) {
      throw invalidParameter(`Unexpected key "${key}" on param "${type}".`);
    }
  }
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
  messageText(media['caption'], `${type}.caption`, CAPTION_MAX, true);
  messageText(media['filename'], `${type}.filename`, FILENAME_MAX, true);
}

/** Uploaded media belong to one business account; to others they do not exist. */
function checkMediaId(type: string, id: unknown, call: Call, number: BusinessNumber): void {
  const media = typeof id === 'string' ? call.state.media.get(id) : undefined;
  if (!media || media.waba_id !== number.waba_id || media.expires_at <= Date.now()) {
    throw upstreamError(131009, `${type}.id: media not found or expired`);
  }
}

function checkLocation(content: JsonObject): void {
  checkCoordinate(content['latitude'], 'location.latitude', 90);
  checkCoordinate(content['longitude'], 'location.longitude', 180);
  messageText(content['name'], 'location.name', 1000, true);
  messageText(content['address'], 'location.address', 1000, true);
}

function checkCoordinate(value: unknown, name: string, bound: number): void {
  if (value === undefined || value === null || value === '') {
    throw upstreamError(131008, `The parameter ${name} is required.`);
  }
  const coordinate = typeof value === 'string' ? Number(value) : value;
  if (typeof coordinate !== 'number' || !(Math.abs(coordinate) <= bound)) {
    throw upstreamError(131009, `${name} must be a number between -${bound} and ${bound}`);
  }
}

function checkReaction(content: JsonObject): void {
  const id = messageText(content['message_id'], 'reaction.message_id', 1000) as string;
  if (!id.startsWith('wamid.')) {
    throw upstreamError(131009, 'reaction.message_id is not the id of a message');
  }
  // An empty emoji removes the reaction; a missing one is an error.
  if (content['emoji'] === undefined) {
    throw upstreamError(131008, 'The parameter reaction.emoji is required.');
  }
  if (typeof content['emoji'] !== 'string') {
    throw upstreamError(131009, 'reaction.emoji must be a string');
  }
}

/** https://developers.facebook.com/docs/whatsapp/cloud-api/messages/contacts-messages */
function checkContacts(content: unknown): void {
  if (content === undefined) {
    throw upstreamError(131008, 'The parameter contacts is required for type contacts.');
  }
  if (!Array.isArray(content) || content.length === 0 || content.length > CONTACTS_MAX) {
    throw upstreamError(131009, `contacts must be an array of 1 to ${CONTACTS_MAX} elements`);
  }
  for (const contact of content as unknown[]) {
    const name = isObject(contact) ? contact['name'] : undefined;
    const formatted = isObject(name) ? name['formatted_name'] : undefined;
    messageText(formatted, 'contacts.name.formatted_name', TEXT_MAX);
  }
}
