// Translates the curl commands of a sample to other languages. A sample with anything else (a loop,
// a pipe, a file) is only shown as it is.
import { WRITERS, type Request, type SampleLanguage, type Text } from './sample-languages';

export type Samples = Record<SampleLanguage, string>;

/** Undefined for a sample that is not only curl commands. */
export function translate(script: string): Samples | undefined {
  const requests = commandsOf(script)?.map(requestOf) ?? [];
  const known = requests.filter((request) => request !== undefined);
  if (known.length === 0 || known.length < requests.length) return undefined;
  const written = Object.entries(WRITERS).map(([language, write]) => [language, write(known)]);
  return Object.fromEntries(written) as Samples;
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
  let word: Array<Text[number]> | undefined;
  const endWord = (): void => {
    if (word) words.push(join(word));
    word = undefined;
  };
  const endCommand = (comment?: string): void => {
    endWord();
    if (words.length > 0) commands.push({ words, comment });
    words = [];
  };
  const add = (part: Text[number]): void => void (word ??= []).push(part);
  let quote = '';
  for (let at = 0; at < script.length; at += 1) {
    const char = script[at] as string;
    if (char === '$' && quote !== "'") {
      const [whole, variable] = VARIABLE.exec(script.slice(at)) ?? [];
      if (whole === undefined || variable === undefined) return undefined;
      add({ variable });
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
