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
const HASH_COMMENTS = /\.(ya?ml|sh|tpl)$|Makefile$|Dockerfile$/;

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
/** Code, addresses, and quotations in tables of examples. */
const CODE = /`[^`]*`|\]\([^)]*\)|“[^”]*”/g;

/** The prose of a line that is not part of a page: its comment, or the name of its test. */
const proseOfCode = (file, line, before) => {
  if (HASH_COMMENTS.test(file)) return HASH_COMMENT.exec(line)?.[1];
  const forms = [LINE_COMMENT, TRAILING_COMMENT, NAME_FOLLOWS.test(before) ? QUOTED : TEST_NAME];
  return forms.map((form) => form.exec(line)?.[1]).find(Boolean);
};

/** Line numbers and prose, without code. */
function* proseOf(file) {
  let fenced = false;
  let before = '';
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const page = file.endsWith('.md');
    if (page && /^\s*```/.test(line)) fenced = !fenced;
    else if (!fenced) {
      const prose = page ? line : proseOfCode(file, line, before);
      if (prose) yield [index + 1, prose.replaceAll(CODE, '')];
    }
    before = line;
  }
}

const rules = TERMS.map(({ term, write, except = [] }) => ({
  term: new RegExp(`\\b(?:${term})\\b`, 'i'),
  write,
  except: except.map((text) => new RegExp(text, 'gi')),
}));

let found = 0;
for (const file of files) {
  for (const [number, prose] of proseOf(file)) {
    for (const { term, write, except } of rules) {
      const rest = except.reduce((text, pattern) => text.replaceAll(pattern, ''), prose);
      const [word] = term.exec(rest) ?? [];
      if (word === undefined) continue;
      found += 1;
      console.log(`${file}:${number}: “${word}”: ${write}\n    ${prose.trim()}`);
    }
  }
}
if (found > 0) {
  console.log(
    `\n${found} sentences to rewrite; .terms.json has the words, and the uses that are right`,
  );
  process.exitCode = 1;
}
