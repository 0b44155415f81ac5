// Which file runs when. The files that wait for processes and engines go first, the longest of them at the very
// start, so that no worker is left with a long one at the end; unit tests fill the rest.
const Sequencer = require('@jest/test-sequencer').default;

/** Longest first; those that share a worker's processes are together. */
const LONG = [
  'e2e/faults',
  'e2e/broadcast-kills',
  'e2e/engines-away.',
  'e2e/processes',
  'e2e/idempotency-crash',
  'e2e/media-large',
  'e2e/upstream-failures',
];

const rank = ({ path }) => {
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
