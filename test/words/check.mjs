// Finds the words of .terms.json in prose: pages, comments, test names. Each marks a sentence that
// names no one and nothing; the table has the words to write instead, and `except` the uses that
// are right.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TERMS = JSON.parse(readFileSync('.terms.json', 'utf8'));
const FILES = [
  '*.ts',
  '*.tsx',
  '*.mts',
  '*.mjs',
  '*.js',
  '*.cjs',
  '*.java',
  '*.go',
  '*.py',
  '*.proto',
  '*.md',
  '*.yaml',
  '*.yml',
  '*.tpl',
  '*.css',
  '*.html',
  '*.sh',
  'Makefile',
  '*/Dockerfile',
];
// Golden files and the list of licences are generated; the texts are those of the sign-up page in each
// of its languages. The changelog is read like any page.
const EXCLUDED = ['test/golden', 'deploy/LICENCES.md', 'gateway/src/connect-page/texts'];
const HASH_COMMENTS = /\.(ya?ml|sh|tpl|py)$|Makefile$|Dockerfile$/;

const tracked = execFileSync(
  'git',
  ['ls-files', '-z', '--', ...FILES, ...EXCLUDED.map((path) => `:!${path}`)],
  { encoding: 'utf8' },
);
const files = tracked.split('\0').filter(Boolean);

const LINE_COMMENT = /^\s*(?:\/\/|\/?\*+|<!--|\{\/\*)(.*)$/;
const TRAILING_COMMENT = /\s\/\/\s(.*)$/;
const HASH_COMMENT = /(?:^|\s)#(.*)$/;
const TEST_NAME = /^\s*(?:(?:test|it|describe)(?:\.\w+)?|\])\)?\((['"`].*)/;
/** The line before a test name that has a line for itself. */
const NAME_FOLLOWS = /^\s*(?:(?:test|it|describe)(?:\.\w+)?(?:\(.*\))?|\]\))\($/;
const QUOTED = /^\s*(['"`].*)/;
/** A table of test cases, and the name that begins one of its rows. */
const TABLE_START = /(?:\b(?:test|it|describe)\.each\b.*|^\s*>)\(\[$/;
const TABLE_END = /^\s*\](?: as const)?\)\(/;
const ROW_NAME = /^\s*\[?(?:(?:\{ )?name: )?('(?:[^'\\]|\\.)* [^']*'|"[^"]* [^"]*"),/;
/** Starts a paragraph of its own: an item of a list, a row of a table, a heading. */
const STARTS_PARAGRAPH = /^\s*(?:[-|#>]|\d+\.)/;
/** Code, addresses, and quotations in tables of examples. */
const CODE = /`[^`]*`|\]\([^)]*\)|“[^”]*”/g;

/** The prose of each line, undefined for one without; `own` if it does not continue the line before. */
function* proseOfLines(file) {
  const page = file.endsWith('.md');
  let fenced = false;
  let in_table = false;
  let before = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (page) {
      const is_fence = /^\s*```/.test(line);
      if (is_fence) fenced = !fenced;
      yield { prose: fenced || is_fence ? undefined : line, own: STARTS_PARAGRAPH.test(line) };
    } else if (HASH_COMMENTS.test(file)) {
      yield { prose: HASH_COMMENT.exec(line)?.[1], own: false };
    } else {
      const comment = LINE_COMMENT.exec(line)?.[1];
      const named = NAME_FOLLOWS.test(before) ? QUOTED : in_table ? ROW_NAME : TEST_NAME;
      const others = [TRAILING_COMMENT, named, TEST_NAME];
      const other = others.map((form) => form.exec(line)?.[1]).find(Boolean);
      yield comment === undefined
        ? { prose: other, own: true }
        : { prose: comment, own: STARTS_PARAGRAPH.test(comment) };
      in_table = TABLE_START.test(line) || (in_table && !TABLE_END.test(line));
    }
    before = line;
  }
}

const blank = (text) => ' '.repeat(text.length);

/** Paragraphs: the text without code, and where each of its lines starts. */
function* paragraphsOf(file) {
  let text = '';
  let starts = [];
  let number = 0;
  const paragraph = () => ({ text: text.replaceAll(CODE, blank), starts });
  for (const { prose, own } of proseOfLines(file)) {
    number += 1;
    if (text !== '' && (own || !prose?.trim())) {
      yield paragraph();
      text = '';
      starts = [];
    }
    if (!prose?.trim()) continue;
    starts.push({ number, at: text.length });
    text += `${prose.trim()} `;
  }
  if (text !== '') yield paragraph();
}

const rules = TERMS.map(({ term, write, except = [] }) => ({
  term: new RegExp(`\\b(?:${term})\\b`, 'i'),
  write,
  except: except.map((text) => new RegExp(text, 'gi')),
}));

let found = 0;
for (const file of files) {
  for (const { text, starts } of paragraphsOf(file)) {
    for (const { term, write, except } of rules) {
      const rest = except.reduce((kept, pattern) => kept.replaceAll(pattern, blank), text);
      const match = term.exec(rest);
      if (!match) continue;
      found += 1;
      const { number } = starts.findLast(({ at }) => at <= match.index);
      const near = text.slice(Math.max(0, match.index - 60), match.index + 60).trim();
      console.log(`${file}:${number}: “${match[0]}”: ${write}\n    … ${near} …`);
    }
  }
}
if (found > 0) {
  console.log(
    `\n${found} sentences to rewrite; .terms.json has the words, and the uses that are right`,
  );
  process.exitCode = 1;
}
