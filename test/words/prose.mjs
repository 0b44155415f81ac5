// Reads the prose of the repository, paragraph by paragraph: pages, comments, test names.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
// Golden files and the list of licences are generated; the texts are those of the sign-up page in
// each of its languages. The changelog is read like any page.
const EXCLUDED = ['test/golden', 'deploy/LICENCES.md', 'gateway/src/connect-page/texts'];
const HASH_COMMENTS = /\.(ya?ml|sh|tpl|py)$|Makefile$|Dockerfile$/;

const tracked = execFileSync(
  'git',
  ['ls-files', '-z', '--', ...FILES, ...EXCLUDED.map((path) => `:!${path}`)],
  { encoding: 'utf8' },
);
export const files = tracked.split('\0').filter(Boolean);

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

/**
 * The prose of each line, undefined for one without. `own` if it does not continue the line before;
 * `comment` if it is a comment in code.
 */
function* proseOfLines(file) {
  const page = file.endsWith('.md');
  let fenced = false;
  let in_table = false;
  let before = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (page) {
      const is_fence = /^\s*```/.test(line);
      if (is_fence) fenced = !fenced;
      yield {
        prose: fenced || is_fence ? undefined : line,
        own: STARTS_PARAGRAPH.test(line),
        comment: false,
      };
    } else if (HASH_COMMENTS.test(file)) {
      yield { prose: HASH_COMMENT.exec(line)?.[1], own: false, comment: true };
    } else {
      const comment = LINE_COMMENT.exec(line)?.[1];
      const named = NAME_FOLLOWS.test(before) ? QUOTED : in_table ? ROW_NAME : TEST_NAME;
      const trailing = TRAILING_COMMENT.exec(line)?.[1];
      const name = [named, TEST_NAME].map((form) => form.exec(line)?.[1]).find(Boolean);
      yield comment === undefined
        ? { prose: trailing || name, own: true, comment: Boolean(trailing) }
        : { prose: comment, own: STARTS_PARAGRAPH.test(comment), comment: true };
      in_table = TABLE_START.test(line) || (in_table && !TABLE_END.test(line));
    }
    before = line;
  }
}

export const blank = (text) => ' '.repeat(text.length);

/** Paragraphs: the text without code, and where each of its lines starts. */
export function* paragraphsOf(file) {
  let text = '';
  let starts = [];
  let number = 0;
  let in_comment = false;
  const paragraph = () => ({ text: text.replaceAll(CODE, blank), starts, comment: in_comment });
  for (const { prose, own, comment } of proseOfLines(file)) {
    number += 1;
    if (text !== '' && (own || comment !== in_comment || !prose?.trim())) {
      yield paragraph();
      text = '';
      starts = [];
    }
    if (!prose?.trim()) continue;
    in_comment = comment;
    starts.push({ number, at: text.length });
    text += `${prose.trim()} `;
  }
  if (text !== '') yield paragraph();
}
