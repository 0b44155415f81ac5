// Reads a JSON object within its limit, before anything else is done with the request.
import type { IncomingMessage } from 'node:http';
import { parse as secureParse } from 'secure-json-parse';
import { ApiError } from '@bmg/common/errors';
import type { Fields } from '../endpoints/endpoint';

/** An opaque part travels as a protobuf Struct, whose decoder takes some thirty levels. */
const DEPTH_MAX = 30;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const invalid = (message: string): ApiError => new ApiError('INVALID_PAYLOAD', message);

/** `hold` is told of each bit that comes in, and throws when there is no room for it. */
export async function readBody(
  request: IncomingMessage,
  limit_bytes: number,
  hold: (bytes: number) => void = () => undefined,
): Promise<Fields> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit_bytes) throw tooLarge(limit_bytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Left unread rather than torn down when it is too much: the answer still has to go out.
    for await (const chunk of request.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit_bytes) throw tooLarge(limit_bytes);
      hold(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('INVALID_PAYLOAD', 'the body was not received whole', { cause: error });
  }
  if (size === 0) return {};
  checkContentType(request);
  return parseObject(Buffer.concat(chunks, size));
}

function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const json = type === undefined || type === 'application/json' || type.endsWith('+json');
  if (!json || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new ApiError(
      'UNSUPPORTED_CONTENT_TYPE',
      'send the body as application/json, not encoded',
    );
  }
}

function parseObject(bytes: Buffer): Fields {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    throw new ApiError('INVALID_PAYLOAD', 'the body is not UTF-8', { cause: error });
  }
  if (isTooDeep(text)) throw invalid(`the body is nested deeper than ${DEPTH_MAX} levels`);
  let value: unknown;
  try {
    value = secureParse(text, undefined, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    const forbidden = /__proto__|constructor/.test(text) && isJson(text);
    throw new ApiError(
      'INVALID_PAYLOAD',
      forbidden
        ? 'the body has a key that is not allowed: __proto__ or constructor'
        : 'the body is not JSON',
      { cause: error },
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the body must be a JSON object');
  }
  return value as Fields;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Deep nesting is refused before it is parsed: later steps walk the value recursively. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inText) {
      if (code === 92) index += 1;
      else if (code === 34) inText = false;
    } else if (code === 34) inText = true;
    else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > DEPTH_MAX) return true;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return false;
}

const tooLarge = (limit_bytes: number): ApiError =>
  new ApiError('INVALID_PAYLOAD', `the body is larger than ${limit_bytes} bytes`, {
    details: { limit_bytes },
  });
