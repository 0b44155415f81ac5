import { partOf, topOf } from './profile';

const frame = (url: string, functionName = 'f') => ({ functionName, url });

test('a profile is summed up by package, by file of ours and by the work of V8', () => {
  const urls: Array<[string, string?]> = [
    ['file:///app/node_modules/kafkajs/src/producer/index.js'],
    ['/app/node_modules/@grpc/grpc-js/build/src/call.js'],
    ['node:internal/streams/readable'],
    ['', '(garbage collector)'],
    ['', '(idle)'],
  ];
  const nodes = urls.map(([url, name], index) => ({ id: index, callFrame: frame(url, name) }));
  const profile = {
    nodes,
    samples: [0, 0, 1, 2, 3, 4],
    timeDeltas: [2e6, 2e6, 3e6, 2e6, 1e6, 9e6],
  };
  expect(topOf(profile)).toEqual([
    ['kafkajs', 4],
    ['@grpc/grpc-js', 3],
    ['node:internal', 2],
    ['(garbage collector)', 1],
  ]);
});

test('a package inside a package is named itself', () => {
  expect(partOf(frame('/app/services/webhooks/node_modules/lru-cache/dist/index.js'))).toBe(
    'lru-cache',
  );
});
