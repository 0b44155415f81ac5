import { outcomeOf } from './outcome';

test.each([
  [{ recorded: true, fenced: false }, 'sent'],
  // The record outweighs a fence: a message that was accepted is never sent again.
  [{ recorded: true, fenced: true }, 'sent'],
  [{ recorded: false, fenced: true }, 'not_sent'],
  [{ recorded: false, fenced: false }, 'unknown'],
] as const)('a send with %o is %s', (facts, outcome) => {
  expect(outcomeOf(facts)).toBe(outcome);
});
