// Which file runs when. The files that wait for processes and engines go first, the longest of them at the very
// start, so that no worker is left with a long one at the end; unit tests fill the rest.
const Sequencer = require('@jest/test-sequencer').default;

/** Longest first. */
const LONG = [
  'e2e/faults',
  'e2e/broadcast-kills',
  'e2e/processes',
  'e2e/upstream-failures',
  'e2e/slow-clients',
  'payments/money.properties',
  'runner/crash',
  'e2e/mtls',
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
