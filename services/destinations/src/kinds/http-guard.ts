// Checks the answers of SQS and S3 servers before the SDK's parsers read them. The agent undoes no
// compression, so that an answer in memory is never larger than what was received.
import { ProtocolBroken } from '@bmg/common/outbound';

export type AnswerFormat = 'xml' | 'json';

const KIB = 1024;
export const ANSWER_MAX_BYTES: Readonly<Record<AnswerFormat, number>> = {
  xml: 16 * KIB,
  json: 64 * KIB,
};
/** The longest answer has three levels. */
const LEVELS_MAX = 16;
const FIRST_ERROR = 300;

const code = (text: string): number => text.charCodeAt(0);
const QUOTE = code('"');
const ESCAPE = code('\\');
const OPENING: ReadonlySet<number> = new Set([code('{'), code('[')]);
const CLOSING: ReadonlySet<number> = new Set([code('}'), code(']')]);

/** Throws ProtocolBroken for an answer that the parser must not see. */
export function checkBody(format: AnswerFormat, status: number, body: Buffer): void {
  if (format === 'xml') {
    // Doctype, entities and CDATA; the protocol has none of them.
    if (body.includes('<!')) throw new ProtocolBroken(`HTTP ${status} with an XML declaration`);
    if (xmlLevels(body) > LEVELS_MAX) throw new ProtocolBroken(`HTTP ${status} with nested XML`);
    return;
  }
  if (jsonLevels(body) > LEVELS_MAX) throw new ProtocolBroken(`HTTP ${status} with nested JSON`);
  if (status < FIRST_ERROR && !isJson(body)) {
    throw new ProtocolBroken(`HTTP ${status} without valid JSON`);
  }
}

/** Elements that are open at the same time, at most. */
function xmlLevels(body: Buffer): number {
  let level = 0;
  let most = 0;
  for (const [tag] of body.toString('latin1').matchAll(/<[^>]{0,256}>?/g)) {
    if (tag.startsWith('</')) level -= 1;
    else if (!tag.endsWith('/>') && !tag.startsWith('<?')) level += 1;
    most = Math.max(most, level);
  }
  return most;
}

function jsonLevels(body: Buffer): number {
  let level = 0;
  let most = 0;
  let inString = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body.readUInt8(at);
    if (inString && byte === ESCAPE) at += 1;
    else if (byte === QUOTE) inString = !inString;
    else if (!inString && OPENING.has(byte)) most = Math.max(most, ++level);
    else if (!inString && CLOSING.has(byte)) level -= 1;
  }
  return most;
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
