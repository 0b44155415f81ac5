import fc from 'fast-check';
import { contentId, newId } from './new-id';

const COUNT = 20_000;

describe('newId', () => {
  test('an id is its prefix and 26 characters', () => {
    expect(newId('evt')).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  test('ids are unique and sort in the order in which they were made', () => {
    const ids = Array.from({ length: COUNT }, () => newId('evt'));
    expect(new Set(ids).size).toBe(COUNT);
    expect([...ids].sort()).toEqual(ids);
  });

  test('an id of a later millisecond sorts after one of an earlier millisecond', () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 2 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a !== b);
        expect(newId('x', a) < newId('x', b)).toBe(a < b);
      }),
    );
  });

  test('one millisecond that comes back after another gives new ids', () => {
    expect(newId('x', 1)).not.toBe((newId('x', 2), newId('x', 1)));
  });

  test.each(['', 'Evt', 'e_vt', '1e', 'e-'])('the prefix %j is refused', (prefix) => {
    expect(() => newId(prefix)).toThrow(TypeError);
    expect(() => contentId(prefix, 'a')).toThrow(TypeError);
  });

  test.each([-1, 1.5, NaN, 2 ** 48])('the time %d is refused', (time) => {
    expect(() => newId('evt', time)).toThrow(RangeError);
  });
});

describe('contentId', () => {
  test('the same content has the same id for ever', () => {
    expect(contentId('evt', 'wamid.A', 'read')).toBe(
      'evt_0-oAbCQdhQ4g1tiR1LKfcNjHO4lDX9WeD_VrFU3kjAg',
    );
  });

  test('two lists of parts have the same id only when they are equal', () => {
    const unit = fc.constantFrom('a', 'é', '1', '2', ':');
    const parts = fc.array(fc.string({ unit, maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const equal = JSON.stringify(a) === JSON.stringify(b);
        expect(contentId('evt', ...a) === contentId('evt', ...b)).toBe(equal);
      }),
    );
  });

  test('text that moves from one part to the next changes the id', () => {
    const ids = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['', 'abc'], ['1:a', 'bc']];
    expect(new Set(ids.map((parts) => contentId('evt', ...parts))).size).toBe(ids.length);
  });
});
