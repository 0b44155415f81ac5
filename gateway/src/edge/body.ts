// Reads a JSON object within its limit, before anything else is done with the request.
import type { IncomingMessage } from 'node:http';
import { parse as secureParse } from 'secure-json-parse';
import { ApiError } from '@bmg/common/errors';
import { BodyRefused, readBody as readBytes } from '@bmg/common/overload';
import type { Fields } from '../endpoints/endpoint';
import { overloaded } from '../limits/load';

/** An opaque part travels as a protobuf Struct, whose decoder takes some thirty levels. */
const DEPTH_MAX = 30;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const invalid = (message: string): ApiError => new ApiError('INVALID_PAYLOAD', message);

/** `reserve` is asked for the room of each chunk in memory, and refuses with false. */
export async function readBody(
  request: IncomingMessage,
  limit_bytes: number,
  reserve?: (bytes: number) => boolean,
): Promise<Fields> {
  const bytes = await readBytes(request, limit_bytes, reserve).catch((error: unknown) => {
    throw error instanceof BodyRefused ? refused(error, limit_bytes) : error;
  });
  if (bytes.length === 0) return {};
  checkContentType(request);
  return parseObject(bytes);
}

function refused({ problem, cause }: BodyRefused, limit_bytes: number): ApiError {
  switch (problem) {
    case 'too_large':
      return new ApiError('INVALID_PAYLOAD', `the body is larger than ${limit_bytes} bytes`, {
        details: { limit_bytes },
      });
    case 'no_room':
      return overloaded();
    case 'incomplete':
      return new ApiError('INVALID_PAYLOAD', 'the body was not received whole', { cause });
  }
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
