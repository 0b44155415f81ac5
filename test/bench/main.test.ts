import { withSection } from './main';

const NAMES = ['send', 'events'];
const section = (name: string, line: string) => ({ name, about: 'Commit 1', lines: [line] });

test('adds sections in the order of the benchmarks and replaces one by its next run', () => {
  let page = withSection('', NAMES, section('events', 'first'));
  page = withSection(page, NAMES, section('send', 'ratio 0.5'));
  page = withSection(page, NAMES, section('events', 'second'));
  expect(page.match(/^## .*/gm)).toEqual(['## send', '## events']);
  expect(page).toContain('## send\n\nCommit 1\n\n```text\nratio 0.5\n```\n');
  expect(page).toContain('second');
  expect(page).not.toContain('first');
});

test('drops the section of a benchmark that no longer exists', () => {
  const page = withSection('# Old page\n\n## old\n\ntext\n', NAMES, section('send', 'x'));
  expect(page).not.toContain('old');
});
