// Reads a request's body as a JSON object, within limits on its size and nesting.
import type { IncomingMessage } from 'node:http';
import { parse as secureParse } from 'secure-json-parse';
import { ApiError } from '@bmg/common/errors';
import { BodyRefused, readBody as readBytes } from '@bmg/common/overload';
import type { Fields } from '../endpoints/endpoint';
import { overloaded } from '../limits/load';

/** Opaque parts become a protobuf Struct, whose decoder accepts about thirty levels. */
const DEPTH_MAX = 30;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const invalid = (message: string): ApiError => new ApiError('INVALID_PAYLOAD', message);

/** An absent body is `{}`. `reserve` returns false when there is no memory for a chunk of the body. */
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
      return new ApiError(
        'INVALID_PAYLOAD',
        'the body was not received completely: send it again',
        { cause },
      );
  }
}

function checkContentType({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const json = type === undefined || type === 'application/json' || type.endsWith('+json');
  if (!json || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new ApiError(
      'UNSUPPORTED_CONTENT_TYPE',
      'send the body as application/json, without Content-Encoding',
    );
  }
}

function parseObject(bytes: Buffer): Fields {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (error) {
    throw new ApiError('INVALID_PAYLOAD', 'the body is not valid UTF-8', { cause: error });
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
        ? 'the keys __proto__ and constructor are not allowed in the body'
        : 'the body is not valid JSON',
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

// Character codes.
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Deep nesting is refused before parsing: later steps walk the value recursively. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inText) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inText = false;
    } else if (code === QUOTE) inText = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > DEPTH_MAX) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}
