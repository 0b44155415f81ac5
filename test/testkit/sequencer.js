// Which file runs when. The projects of two workers come first: the files that wait for processes and engines,
// the longest at the very start so that no worker is left with a long one at the end, then unit tests. The
// project of one worker follows.
const Sequencer = require('@jest/test-sequencer').default;

/**
 * Longest first. The slow clients' sockets do not come beside the upstream's failures, whose time-outs are
 * short.
 */
const LONG = [
  'e2e/console.e2e',
  'e2e/upstream-failures',
  'runner/crash',
  'e2e/mtls',
  'e2e/slow-clients',
];
const LAST = 'processes';

const rank = ({ path, context }) => {
  if (context.config.displayName?.name === LAST) return LONG.length + 3;
  const long = LONG.findIndex((name) => path.includes(name));
  if (long >= 0) return long;
  if (path.includes('/test/e2e/')) return LONG.length;
  return path.endsWith('.mesh.test.ts') ? LONG.length + 1 : LONG.length + 2;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
  }
};
