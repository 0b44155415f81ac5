import { withSection } from './main';
import { partOf, topOf } from './profile';

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

const frame = (url: string, functionName = 'f') => ({ functionName, url });

test('a profile is summed up by package, by folder of ours and by the work of V8', () => {
  const tree: Array<[id: number, url: string, name: string, children?: number[]]> = [
    [0, '', '(root)', [1, 5, 6, 7]],
    [1, 'file:///app/services/webhooks/dist/delivery/lanes.js', 'run', [2, 4]],
    [2, '/app/node_modules/kafkajs/src/producer/index.js', 'send', [3]],
    // Node's own work for kafkajs.
    [3, 'node:internal/streams/writable', 'write'],
    [4, '/app/node_modules/@grpc/grpc-js/build/src/call.js', 'call'],
    [5, '', '(garbage collector)'],
    [6, '', '(idle)'],
    [7, 'node:internal/modules/cjs/loader', 'Module._load', [8]],
    [8, '/app/node_modules/kafkajs/index.js', ''],
  ];
  const nodes = tree.map(([id, url, name, children]) => ({
    id,
    callFrame: frame(url, name),
    ...(children && { children }),
  }));
  const profile = {
    nodes,
    samples: [1, 2, 3, 3, 4, 5, 6, 8, 0],
    timeDeltas: [1e6, 2e6, 2e6, 3e6, 3e6, 2e6, 9e6, 9e6, 4e6],
  };
  expect(topOf(profile)).toEqual([
    ['kafkajs', 7],
    ['node', 4],
    ['@grpc/grpc-js', 3],
    ['(garbage collector)', 2],
    ['/app/services/webhooks/dist/delivery', 1],
  ]);
});

test('a package inside a package is named itself', () => {
  expect(partOf(frame('/app/services/webhooks/node_modules/lru-cache/dist/index.js'))).toBe(
    'lru-cache',
  );
});
