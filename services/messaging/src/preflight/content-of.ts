// The content of a message from the body of its send endpoint, by kind. Pure.
import type { Json } from '@bmg/common/upstream';
import {
  type Content,
  contactsContent,
  interactiveContent,
  locationContent,
  mediaContent,
  reactionContent,
  templateContent,
  textContent,
} from '../send';

type Reader = (body: Json) => Content;

/** The gateway has checked the body against the schema of the endpoint. */
const READERS: Readonly<Record<string, Reader>> = {
  text: (body) => textContent(body['text'] as string, body['preview_url'] as boolean | undefined),
  template: (body) => templateContent(body['template'] as Json | undefined),
  media: (body) => mediaContent(body['type'] as string, body['media'] as Json | undefined),
  interactive: (body) => interactiveContent(body['interactive'] as Json | undefined),
  location: (body) => locationContent(body as unknown as Parameters<typeof locationContent>[0]),
  contacts: (body) => contactsContent(body['contacts'] as Json[]),
  reaction: (body) => reactionContent(body['message_id'] as string, body['emoji'] as string),
};

export function contentOf(kind: string, body: Json): Content {
  const read = READERS[kind];
  if (!read) throw new Error(`no such kind of message: ${kind}`);
  return read(body);
}
