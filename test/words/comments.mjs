// Checks the comments of the code: lines of at most 100 columns, and sentences that do not begin
// with a clause that hangs on the name below ("Of each partner, …"). `node comments.mjs <folder> …`
// checks other folders than those that are clean.
import { readFileSync } from 'node:fs';
import { files, paragraphsOf } from './prose.mjs';

const CLEAN = ['gateway/', 'deploy/', 'test/'];
const COLUMNS_MAX = 100;
const HANGING =
  /(?:^|[.!?:]["”’)]?\s+)(?:\/?\*+\s+)?(Of|With|As|By|The same|Whether|Without)\b(?!-)/g;

const given = process.argv.slice(2);
const folders = given.length > 0 ? given : CLEAN;
let found = 0;
const report = (file, number, text) => {
  found += 1;
  console.log(`${file}:${number}: ${text}`);
};

for (const file of files) {
  if (file.endsWith('.md') || !folders.some((folder) => file.startsWith(folder))) continue;
  const lines = readFileSync(file, 'utf8').split('\n');
  for (const { text, starts, comment } of paragraphsOf(file)) {
    if (!comment) continue;
    for (const { number } of starts) {
      const columns = lines[number - 1].length;
      if (columns > COLUMNS_MAX) report(file, number, `${columns} columns`);
    }
    for (const match of text.matchAll(HANGING)) {
      const at = match.index + match[0].length - match[1].length;
      const { number } = starts.findLast((start) => start.at <= at);
      report(file, number, `“${text.slice(at, at + 60).trim()} …”`);
    }
  }
}
if (found > 0) {
  console.log(
    `\n${found} comments to rewrite: sentences with a subject and a verb, in ${COLUMNS_MAX} columns`,
  );
  process.exitCode = 1;
}
