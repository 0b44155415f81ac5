// Finds the words of .terms.json in prose: pages, comments, test names. Each marks a sentence that
// names no one and nothing; the table has the words to write instead, and `except` the uses that
// are right.
import { readFileSync } from 'node:fs';
import { blank, files, paragraphsOf } from './prose.mjs';

const TERMS = JSON.parse(readFileSync('.terms.json', 'utf8'));
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
