// Translates the curl commands of a sample to Node.js and Python. A sample with anything else (a
// loop, a pipe, a file) is only shown as it is.

/** A text with variables of the environment in it. */
type Text = ReadonlyArray<string | { variable: string }>;

interface Request {
  method: string | undefined;
  url: Text;
  headers: Array<[name: string, value: Text]>;
  body: Text | undefined;
  /** What the command's comment says. */
  comment: string | undefined;
}

export interface Samples {
  node: string;
  python: string;
}

/** Undefined for a sample that is not only curl commands. */
export function translate(script: string): Samples | undefined {
  const requests = commandsOf(script)?.map(requestOf);
  if (!requests || requests.length === 0) return undefined;
  const known = requests.filter((request) => request !== undefined);
  if (known.length < requests.length) return undefined;
  return { node: nodeOf(known), python: pythonOf(known) };
}

interface Command {
  words: Text[];
  comment: string | undefined;
}

/** Characters that make a line more than a simple command. */
const SYNTAX = new Set('|><;&()`{}*?');
const VARIABLE = /^\$([A-Za-z_]\w*)/;

/**
 * The commands of a script; undefined if it uses more of the shell than quotes and variables. The
 * parsers of npm would not make it shorter: shell-quote loses line ends and unfinished quotes, and
 * unbash comments.
 */
function commandsOf(script: string): Command[] | undefined {
  const commands: Command[] = [];
  let words: Text[] = [];
  let word: Array<string | { variable: string }> | undefined;
  const endWord = (): void => {
    if (word) words.push(word);
    word = undefined;
  };
  const endCommand = (comment?: string): void => {
    endWord();
    if (words.length > 0) commands.push({ words, comment });
    words = [];
  };
  const add = (text: string): void => {
    word ??= [];
    if (typeof word.at(-1) === 'string') word.push(`${word.pop() as string}${text}`);
    else word.push(text);
  };
  let quote = '';
  for (let at = 0; at < script.length; at += 1) {
    const char = script[at] as string;
    if (char === '$' && quote !== "'") {
      const [whole, variable] = VARIABLE.exec(script.slice(at)) ?? [];
      if (whole === undefined || variable === undefined) return undefined;
      (word ??= []).push({ variable });
      at += whole.length - 1;
    } else if (quote !== '') {
      if (char === quote) quote = '';
      else add(char);
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= [];
    } else if (char === '\\' && script[at + 1] === '\n') {
      endWord();
      at += 1;
    } else if (char === '\n') endCommand();
    else if (char === ' ') endWord();
    else if (char === '#' && word === undefined) {
      const end = script.indexOf('\n', at);
      const comment = script.slice(at + 1, end === -1 ? undefined : end).trim();
      endCommand(comment);
      at += comment.length;
      while (at + 1 < script.length && script[at + 1] !== '\n') at += 1;
    } else if (SYNTAX.has(char) || char === '\\') return undefined;
    else add(char);
  }
  endCommand();
  return quote === '' ? commands : undefined;
}

const plain = (text: Text | undefined): string | undefined =>
  text?.length === 1 && typeof text[0] === 'string' ? text[0] : undefined;

/** Undefined for another program than curl, and for options that the samples do not need. */
function requestOf({ words: [program, ...words], comment }: Command): Request | undefined {
  if (plain(program) !== 'curl') return undefined;
  const query: Array<[string, string]> = [];
  const request: Partial<Request> & Pick<Request, 'headers'> = { headers: [], comment };
  let is_get = false;
  for (let at = 0; at < words.length; at += 1) {
    const option = plain(words[at]);
    if (option?.startsWith('-') !== true) {
      if (request.url) return undefined;
      request.url = words[at] as Text;
      continue;
    }
    if (option === '-s') continue;
    if (option === '-G') {
      is_get = true;
      continue;
    }
    at += 1;
    const value = words[at];
    const text = plain(value);
    if (value === undefined) return undefined;
    if (option === '-H') request.headers.push(headerOf(value));
    else if (option === '-d') request.body = value;
    else if (option === '-X' && text !== undefined) request.method = text;
    else if (option === '--data-urlencode' && text !== undefined) {
      const [name = '', ...rest] = text.split('=');
      query.push([name, rest.join('=')]);
    } else return undefined;
  }
  if (!request.url || (query.length > 0 && !is_get)) return undefined;
  const search = query.length > 0 ? [`?${new URLSearchParams(query).toString()}`] : [];
  return {
    headers: request.headers,
    body: request.body,
    comment,
    method: request.method ?? (request.body ? 'POST' : undefined),
    url: join([...request.url, ...search]),
  };
}

/** Joins neighbouring strings. */
function join(text: Text): Text {
  const joined: Array<Text[number]> = [];
  for (const part of text) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string')
      joined.push(`${joined.pop() as string}${part}`);
    else joined.push(part);
  }
  return joined;
}

/** A header's name and value: the name is before the first colon. */
function headerOf([first, ...rest]: Text): [string, Text] {
  const [, name = '', value = ''] = /^([^:]+):\s*([\s\S]*)$/.exec(String(first)) ?? [];
  return [name, join(value === '' ? rest : [value, ...rest])];
}

/** How a language writes values. */
interface Language {
  /** One step of indentation. */
  step: string;
  /** Between the brackets of an object and its entries. */
  pad: string;
  literals: Readonly<Record<string, string>>;
  quote(text: string): string;
  variable(name: string): string;
  /** A text with variables in it. */
  format(text: Text): string;
  key(name: string): string;
}

const jsEscape = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
const JS: Language = {
  step: '  ',
  pad: ' ',
  literals: { true: 'true', false: 'false', null: 'null' },
  quote: (text) => `'${jsEscape(text).replaceAll("'", "\\'")}'`,
  variable: (name) => `env.${name}`,
  format: (text) =>
    `\`${text.map((part) => (typeof part === 'string' ? jsEscape(part).replaceAll('`', '\\`').replaceAll('${', '\\${') : `\${env.${part.variable}}`)).join('')}\``,
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JS.quote(name)),
};

const PYTHON: Language = {
  step: '    ',
  pad: '',
  literals: { true: 'True', false: 'False', null: 'None' },
  quote: (text) => `"${jsEscape(text).replaceAll('"', '\\"')}"`,
  variable: (name) => `os.environ["${name}"]`,
  format: (text) =>
    `f"${text.map((part) => (typeof part === 'string' ? jsEscape(part).replaceAll('"', '\\"').replaceAll('{', '{{').replaceAll('}', '}}') : `{os.environ['${part.variable}']}`)).join('')}"`,
  key: (name) => PYTHON.quote(name),
};

function textIn(language: Language, text: Text): string {
  const [first = '', second] = text;
  if (second === undefined)
    return typeof first === 'string' ? language.quote(first) : language.variable(first.variable);
  return language.format(text);
}

/** Stands for a variable inside a JSON text. */
const MARK = '\u0001';
const textOfMarked = (marked: string): Text =>
  marked
    .split(MARK)
    .map((part, at) => (at % 2 === 0 ? part : { variable: part }))
    .filter((part) => part !== '');

const WIDTH = 72;

/** Entries between brackets: on one line if they are short, else each on its own. */
function bracketed(
  { step, pad }: Language,
  [open, close]: readonly [string, string],
  entries: (indent: string) => string[],
  indent: string,
): string {
  const space = open === '{' ? pad : '';
  const line = `${open}${space}${entries(indent).join(', ')}${space}${close}`;
  if (line.length + indent.length <= WIDTH && !line.includes('\n')) return line;
  const within = indent + step;
  const lines = entries(within).map((entry) => `${within}${entry},\n`);
  return `${open}\n${lines.join('')}${indent}${close}`;
}

function valueIn(language: Language, value: unknown, indent: string): string {
  if (typeof value === 'string') return textIn(language, textOfMarked(value));
  if (typeof value !== 'object' || value === null) {
    return language.literals[String(value)] ?? String(value);
  }
  if (Array.isArray(value)) {
    const items = (within: string) => value.map((item) => valueIn(language, item, within));
    return bracketed(language, ['[', ']'], items, indent);
  }
  const entries = (within: string): string[] =>
    Object.entries(value).map(
      ([name, item]) => `${language.key(name)}: ${valueIn(language, item, within)}`,
    );
  return bracketed(language, ['{', '}'], entries, indent);
}

/** The body as a value of the language, at the place where it is written. */
function bodyIn(language: Language, body: Text, indent: string): string {
  const marked = body
    .map((part) => (typeof part === 'string' ? part : `${MARK}${part.variable}${MARK}`))
    .join('');
  // A control character may not stand in JSON.
  const escaped = marked.replaceAll(MARK, '\\u0001');
  return valueIn(language, JSON.parse(escaped) as unknown, indent);
}

function headersIn(language: Language, headers: Request['headers'], indent: string): string {
  const entries = headers.map(
    ([name, value]) => `${language.key(name)}: ${textIn(language, value)}`,
  );
  return bracketed(language, ['{', '}'], () => entries, indent);
}

const commentIn = (sign: string, { comment }: Request): string =>
  comment === undefined ? '' : `${sign} ${comment}\n`;

function nodeOf(requests: Request[]): string {
  const first = requests.length > 1 ? 'let ' : 'const ';
  const calls = requests.map((request, at) => {
    const { method, url, headers, body } = request;
    const options = [
      ...(method === undefined ? [] : [`method: '${method}'`]),
      ...(headers.length === 0 ? [] : [`headers: ${headersIn(JS, headers, JS.step)}`]),
      ...(body === undefined ? [] : [`body: JSON.stringify(${bodyIn(JS, body, JS.step)})`]),
    ].map((option) => `${JS.step}${option},\n`);
    const given = options.length === 0 ? '' : `, {\n${options.join('')}}`;
    return `${commentIn('//', request)}${at === 0 ? first : ''}answer = await fetch(${textIn(JS, url)}${given});
console.log(await answer.json());
`;
  });
  return `import { env } from 'node:process';

${calls.join('\n')}`;
}

function pythonOf(requests: Request[]): string {
  const calls = requests.map((request) => {
    const { method, url, headers, body } = request;
    const given = [
      textIn(PYTHON, url),
      ...(method === undefined ? [] : [`method="${method}"`]),
      ...(headers.length === 0 ? [] : [`headers=${headersIn(PYTHON, headers, PYTHON.step)}`]),
      ...(body === undefined
        ? []
        : [`data=json.dumps(${bodyIn(PYTHON, body, PYTHON.step)}).encode()`]),
    ].map((argument) => `${PYTHON.step}${argument},\n`);
    return `${commentIn('#', request)}request = urllib.request.Request(
${given.join('')})
print(json.load(urllib.request.urlopen(request)))
`;
  });
  return `import json
import os
import urllib.request

${calls.join('\n')}`;
}
