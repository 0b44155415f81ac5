// Writes the requests of a sample in the languages of the documentation, as programs that read
// variables from the environment.

/** A text with variables of the environment in it. */
export type Text = ReadonlyArray<string | { variable: string }>;

export interface Request {
  method: string | undefined;
  url: Text;
  headers: Array<[name: string, value: Text]>;
  body: Text | undefined;
  /** The comment beside the command. */
  comment: string | undefined;
}

/** How a language writes values. */
interface Language {
  /** One step of indentation. */
  step: string;
  /** Between the brackets of an object and its entries. */
  pad: string;
  /** Around the entries of an object, and between a key and its value. */
  object: readonly [open: string, close: string, colon: string];
  /** An object without entries. */
  empty: string;
  literals: Readonly<Record<string, string>>;
  quote(text: string): string;
  variable(name: string): string;
  /** A text with variables in it. */
  format(text: Text): string;
  key(name: string): string;
  /** The method, the headers and the body of a request, each at the place of `%`. */
  options: readonly [method: string, headers: string, body: string];
}

const jsEscape = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
const JS: Language = {
  step: '  ',
  pad: ' ',
  object: ['{', '}', ': '],
  empty: '{}',
  literals: { true: 'true', false: 'false', null: 'null' },
  quote: (text) => `'${jsEscape(text).replaceAll("'", "\\'")}'`,
  variable: (name) => `env.${name}`,
  format: (text) =>
    `\`${text.map((part) => (typeof part === 'string' ? jsEscape(part).replaceAll('`', '\\`').replaceAll('${', '\\${') : `\${env.${part.variable}}`)).join('')}\``,
  key: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JS.quote(name)),
  options: ['method: %', 'headers: %', 'body: JSON.stringify(%)'],
};

const PYTHON: Language = {
  step: '    ',
  pad: '',
  object: ['{', '}', ': '],
  empty: '{}',
  literals: { true: 'True', false: 'False', null: 'None' },
  quote: (text) => `"${jsEscape(text).replaceAll('"', '\\"')}"`,
  variable: (name) => `os.environ["${name}"]`,
  format: (text) =>
    `f"${text.map((part) => (typeof part === 'string' ? jsEscape(part).replaceAll('"', '\\"').replaceAll('{', '{{').replaceAll('}', '}}') : `{os.environ['${part.variable}']}`)).join('')}"`,
  key: (name) => PYTHON.quote(name),
  options: ['method=%', 'headers=%', 'data=json.dumps(%).encode()'],
};

/** The parts of a text, quoted and joined by an operator. */
const joined =
  ({ quote, variable }: Pick<Language, 'quote' | 'variable'>, operator: string) =>
  (text: Text): string =>
    text
      .map((part) => (typeof part === 'string' ? quote(part) : variable(part.variable)))
      .join(operator);

const PHP_VALUES = {
  // Only a text in double quotes has escaped line ends.
  quote: (text: string) =>
    /[\r\n]/.test(text)
      ? `"${jsEscape(text).replaceAll('"', '\\"').replaceAll('$', '\\$')}"`
      : `'${jsEscape(text).replaceAll("'", "\\'")}'`,
  variable: (name: string) => `getenv('${name}')`,
};
const PHP: Language = {
  ...PHP_VALUES,
  step: '    ',
  pad: '',
  object: ['[', ']', ' => '],
  empty: 'new stdClass()',
  literals: { true: 'true', false: 'false', null: 'null' },
  format: joined(PHP_VALUES, ' . '),
  key: PHP_VALUES.quote,
  options: [
    'CURLOPT_CUSTOMREQUEST => %',
    'CURLOPT_HTTPHEADER => %',
    'CURLOPT_POSTFIELDS => json_encode(%)',
  ],
};

/** Go and Java send the JSON as a text. */
const GO_VALUES = { quote: PYTHON.quote, variable: (name: string) => `os.Getenv("${name}")` };
const goText = joined(GO_VALUES, '+');
const javaText = joined(
  { quote: PYTHON.quote, variable: (name) => `System.getenv("${name}")` },
  ' + ',
);

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

function objectIn(
  language: Language,
  entries: (indent: string) => Array<[name: string, value: string]>,
  indent: string,
): string {
  const [open, close, colon] = language.object;
  const texts = (within: string): string[] =>
    entries(within).map(([name, value]) => `${language.key(name)}${colon}${value}`);
  return bracketed(language, [open, close], texts, indent);
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
  const pairs = Object.entries(value);
  if (pairs.length === 0) return language.empty;
  const entries = (within: string): Array<[string, string]> =>
    pairs.map(([name, item]) => [name, valueIn(language, item, within)]);
  return objectIn(language, entries, indent);
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

/** The headers as an object; PHP has a list of lines. */
function headersIn(language: Language, headers: Request['headers']): string {
  if (language === PHP) {
    const lines = headers.map(([name, [first = '', ...rest]]) =>
      textIn(
        PHP,
        typeof first === 'string' ? [`${name}: ${first}`, ...rest] : [`${name}: `, first, ...rest],
      ),
    );
    return bracketed(PHP, ['[', ']'], () => lines, PHP.step);
  }
  const entries = headers.map(([name, value]): [string, string] => [name, textIn(language, value)]);
  return objectIn(language, () => entries, language.step);
}

/** The options of a request, each in a line; `first` comes before them. */
function optionsIn(language: Language, request: Request, first: string[] = []): string {
  const { method, headers, body } = request;
  const values = [
    method && language.quote(method),
    headers.length > 0 ? headersIn(language, headers) : undefined,
    body && bodyIn(language, body, language.step),
  ];
  const given = language.options.flatMap((option, at) => {
    const value = values[at];
    return value === undefined ? [] : [option.replace('%', () => value)];
  });
  return [...first, ...given].map((option) => `${language.step}${option},\n`).join('');
}

const commentIn = (sign: string, { comment }: Request): string =>
  comment === undefined ? '' : `${sign} ${comment}\n`;

function nodeOf(requests: Request[]): string {
  const first = requests.length > 1 ? 'let ' : 'const ';
  const calls = requests.map((request, at) => {
    const options = optionsIn(JS, request);
    return `${commentIn('//', request)}${at === 0 ? first : ''}answer = await fetch(${textIn(JS, request.url)}${options && `, {\n${options}}`});
console.log(await answer.json());
`;
  });
  return `import { env } from 'node:process';

${calls.join('\n')}`;
}

function pythonOf(requests: Request[]): string {
  const calls = requests.map(
    (request) => `${commentIn('#', request)}request = urllib.request.Request(
${optionsIn(PYTHON, request, [textIn(PYTHON, request.url)])})
print(json.load(urllib.request.urlopen(request)))
`,
  );
  return `import json
import os
import urllib.request

${calls.join('\n')}`;
}

function phpOf(requests: Request[]): string {
  const calls = requests.map(
    (request) => `${commentIn('//', request)}$request = curl_init(${textIn(PHP, request.url)});
curl_setopt_array($request, [
${optionsIn(PHP, request, ['CURLOPT_RETURNTRANSFER => true'])}]);
print_r(json_decode(curl_exec($request), true));
`,
  );
  return `<?php

${calls.join('\n')}`;
}

/** `\`` in a raw text of Go, and what Java reads as an escape in a block of text. */
const goRaw = (text: string): string => `\`${text.replaceAll('`', '\\u0060')}\``;
const javaBlock = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"""').replaceAll('%', '%%');

const indented = (text: string, indent: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : indent + line))
    .join('\n');

function goOf(requests: Request[]): string {
  const calls = requests.map((request, at) => {
    const { method = 'GET', url, headers, body } = request;
    const sign = at === 0 ? ':=' : '=';
    const sent = body
      ? `strings.NewReader(${joined({ ...GO_VALUES, quote: goRaw }, '+')(body)})`
      : 'nil';
    return `${indented(commentIn('//', request), '\t')}\trequest, err ${sign} http.NewRequest("${method}", ${goText(url)}, ${sent})
\tcheck(err)
${headers.map(([name, value]) => `\trequest.Header.Set("${name}", ${goText(value)})\n`).join('')}\tanswer, err ${sign} http.DefaultClient.Do(request)
\tcheck(err)
\tio.Copy(os.Stdout, answer.Body)
`;
  });
  const packages = [
    'io',
    'log',
    'net/http',
    'os',
    ...(requests.some(({ body }) => body) ? ['strings'] : []),
  ];
  return `package main

import (
${packages.map((name) => `\t"${name}"\n`).join('')})

func main() {
${calls.join('\n')}}

func check(err error) {
\tif err != nil {
\t\tlog.Fatal(err)
\t}
}
`;
}

/** A block of text, whose lines stand at the indentation of its end. */
function javaBody(body: Text, indent: string): string {
  const variables = body.filter((part) => typeof part !== 'string');
  const text = body.map((part) => (typeof part === 'string' ? javaBlock(part) : '%s')).join('');
  const given = variables.map(({ variable }) => `System.getenv("${variable}")`).join(', ');
  const block = variables.length > 0 ? text : text.replaceAll('%%', '%');
  return `"""\n${indented(block, indent)}"""${given && `.formatted(${given})`}`;
}

const JAVA_STEP = '    ';

function javaOf(requests: Request[]): string {
  const within = JAVA_STEP.repeat(2);
  const call = within + JAVA_STEP;
  const calls = requests.map((request, at) => {
    const { method, url, headers, body } = request;
    const sent = body
      ? `BodyPublishers.ofString(${javaBody(body, call + JAVA_STEP)})`
      : 'BodyPublishers.noBody()';
    const lines = [
      ...headers.map(([name, value]) => `.header("${name}", ${javaText(value)})`),
      ...(method === undefined ? [] : [`.method("${method}", ${sent})`]),
      '.build();',
    ].map((line) => `${call}${line}\n`);
    return `${indented(commentIn('//', request), within)}${within}${at === 0 ? 'var ' : ''}request = HttpRequest.newBuilder(URI.create(${javaText(url)}))
${lines.join('')}${within}System.out.println(client.send(request, BodyHandlers.ofString()).body());
`;
  });
  const publishers = requests.some(({ method }) => method !== undefined)
    ? 'import java.net.http.HttpRequest.BodyPublishers;\n'
    : '';
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
${publishers}import java.net.http.HttpResponse.BodyHandlers;

public class Sample {
    public static void main(String[] args) throws Exception {
        var client = HttpClient.newHttpClient();
${calls.join('\n')}    }
}
`;
}

/** Each language writes the requests of a sample as a whole program. */
export const WRITERS = {
  node: nodeOf,
  python: pythonOf,
  php: phpOf,
  go: goOf,
  java: javaOf,
} as const satisfies Record<string, (requests: Request[]) => string>;
export type SampleLanguage = keyof typeof WRITERS;
