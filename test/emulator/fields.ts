// Parses the `fields` parameter with its nested braces and modifiers, and selects the fields of a
// node. One field that does not exist, or that the token may not read, fails the whole request.
import { invalid, upstreamError } from './errors';
import type { JsonObject } from './types';

const FIELDS_MAX = 200;

export interface Field {
  name: string;
  /** `analytics.start(1).end(2)` has the modifiers start and end. */
  args: Record<string, string>;
}

export interface FieldRules {
  /** The node type in the platform's error messages. */
  node_type: string;
  defaults: readonly string[];
  /** Returned only on request. */
  known: readonly string[];
  /** Fields that need a permission that an onboarding token never has. */
  denied?: readonly string[];
}

export function parseFields(text: string): Field[] {
  return splitTop(text, ',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseField);
}

function parseField(text: string): Field {
  const [head = '', ...modifiers] = splitTop(text.replace(/\{.*\}$/s, ''), '.');
  const args: Record<string, string> = {};
  for (const modifier of modifiers) {
    const match = /^(\w+)\((.*)\)$/s.exec(modifier);
    if (!match) throw upstreamError(2500, `Syntax error in field expansion at "${modifier}"`);
    args[match[1] as string] = match[2] as string;
  }
  return { name: head.trim(), args };
}

/** Splits at the separator, but not inside brackets. */
function splitTop(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length && parts.length < FIELDS_MAX; i += 1) {
    const char = text[i] as string;
    if ('({['.includes(char)) depth += 1;
    else if (')}]'.includes(char)) depth -= 1;
    else if (char === separator && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  if (depth !== 0) throw upstreamError(2500, 'Syntax error: brackets do not match in `fields`');
  parts.push(text.slice(start));
  return parts;
}

/** The requested fields after the rules; `id` is always included. */
export function requestedFields(query: URLSearchParams, rules: FieldRules): Field[] {
  const text = query.get('fields');
  if (!text) return rules.defaults.map((name) => ({ name, args: {} }));
  const fields = parseFields(text);
  for (const { name } of fields) {
    if (rules.denied?.includes(name)) {
      throw upstreamError(10, `Requires permission to read the field '${name}'`);
    }
    if (name !== 'id' && !rules.known.includes(name) && !rules.defaults.includes(name)) {
      throw invalid(
        `Tried accessing nonexisting field (${name}) on node type (${rules.node_type})`,
      );
    }
  }
  return fields;
}

export function selectFields(
  node: JsonObject,
  query: URLSearchParams,
  rules: FieldRules,
): JsonObject {
  const answer: JsonObject = {};
  for (const { name } of requestedFields(query, rules)) {
    if (node[name] !== undefined) answer[name] = node[name];
  }
  if (node['id'] !== undefined) answer['id'] = node['id'];
  return answer;
}
