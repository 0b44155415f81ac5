// EVENTS.md, the page for partners' developers, must match the table of fields.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPSTREAM_EVENTS } from '@bmg/common/messages';
import { NO_EVENT } from './context';
import { FIELDS } from './fields';

const PAGE = readFileSync(join(__dirname, '../../EVENTS.md'), 'utf8');

function section(title: string): string {
  const [, after = ''] = PAGE.split(`## ${title}\n`);
  return after.split('\n## ')[0] ?? '';
}

function rowsOf(text: string, column: number): string {
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.split(' | ')[column]).join('\n');
}

test('lists the events in the order of the contract', () => {
  const listed = rowsOf(section('Events'), 0).match(/(?<=`)[a-z_.]+(?=`)/g);
  expect(listed).toEqual([...UPSTREAM_EVENTS]);
});

test('lists every upstream field with its events, or as one without an event of its own', () => {
  const sent = rowsOf(section('Events'), 1);
  const withoutName = section('Extra events');
  for (const [field, row] of FIELDS) {
    if (row === NO_EVENT) expect(sent).not.toContain(`\`${field}\``);
    expect(row === NO_EVENT ? withoutName : sent).toContain(`\`${field}\``);
  }
});
