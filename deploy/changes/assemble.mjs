// Makes a release's section of CHANGELOG.md from the files of this folder, and deletes them:
// `node deploy/changes/assemble.mjs <version> [<date>]`. `--check` only reads them.
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const HEADINGS = ['Added', 'Changed', 'Removed', 'Fixed', 'Security'];
const FOLDER = 'deploy/changes';
const CHANGELOG = 'CHANGELOG.md';
const COLUMNS_MAX = 100;
const UNRELEASED = '## Unreleased\n';

/** The heading of a change, and a paragraph for each entry. */
function parse(name, text) {
  const [, heading, body] = /^# (\w+)\n\n(\S[\s\S]*)$/.exec(text) ?? [];
  if (!HEADINGS.includes(heading)) {
    throw new Error(
      `${FOLDER}/${name} must begin with one of # ${HEADINGS.join(', # ')}, then an empty line and the text`,
    );
  }
  return { heading, entries: body.trim().split(/\n{2,}/) };
}

/** An item of the list, wrapped, with links from the root of the repository. */
function item(entry) {
  const words = entry.replaceAll('](../../', '](').split(/\s+/);
  const lines = ['-'];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= COLUMNS_MAX) lines[lines.length - 1] = longer;
    else lines.push(`  ${word}`);
  }
  return lines.join('\n');
}

const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .sort();
const changes = names.map((name) => parse(name, readFileSync(resolve(FOLDER, name), 'utf8')));

/** The text of the release. */
function section(version, date) {
  const parts = HEADINGS.map((heading) => {
    const entries = changes.filter((one) => one.heading === heading).flatMap((one) => one.entries);
    return entries.length === 0 ? '' : `### ${heading}\n\n${entries.map(item).join('\n')}\n\n`;
  });
  return `## ${version} - ${date}\n\n${parts.join('')}`;
}

if (!process.argv.includes('--check')) {
  const [, , version = '', date = new Date().toISOString().slice(0, 10)] = process.argv;
  if (!/^\d+\.\d+\.\d+$/.test(version))
    throw new Error('give the version: make changelog VERSION=2.11.0');
  if (changes.length === 0) throw new Error(`${FOLDER} has no changes to release`);
  const changelog = readFileSync(CHANGELOG, 'utf8');
  const [before, after, ...more] = changelog.split(UNRELEASED);
  if (after === undefined || more.length > 0)
    throw new Error(`${CHANGELOG} needs one “Unreleased”`);
  if (!after.startsWith('\n## ')) {
    throw new Error(`move what stands under Unreleased into files of ${FOLDER}`);
  }
  writeFileSync(CHANGELOG, `${before}${UNRELEASED}\n${section(version, date)}${after.slice(1)}`);
  for (const name of names) rmSync(resolve(FOLDER, name));
}
