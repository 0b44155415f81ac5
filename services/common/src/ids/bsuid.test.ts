import fc from 'fast-check';
import { isParentBsuid, parseBsuid, normalisePhone } from './phone';

const alphanumerics = (max: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9]{1,${max}}$`));
const country = fc.stringMatching(/^[A-Z]{2}$/);

describe('parseBsuid', () => {
  test.each([
    ['US.13491208655302741918', 'US.13491208655302741918'],
    ['US.ENT.11815799212886844830', 'US.ENT.11815799212886844830'],
    ['whatsapp:MY.abcXYZ123', 'MY.abcXYZ123'],
    ['whatsapp:MY.ENT.a', 'MY.ENT.a'],
    ['US.ENT', 'US.ENT'],
    ['12.3', null],
    ['us.123', null],
    ['USA.123', null],
    ['US.', null],
    ['US.ENT.', null],
    ['US.ENT.ENT.1', null],
    ['US.12-3', null],
    ['US.12 3', null],
    [' US.123', null],
    ['US.123\n', null],
    ['WhatsApp:US.123', null],
    ['whatsapp:whatsapp:US.123', null],
    ['whatsapp:15551234567', null],
    ['US.é', null],
    ['', null],
    [`US.${'a'.repeat(128)}`, `US.${'a'.repeat(128)}`],
    [`US.${'a'.repeat(129)}`, null],
    [`US.ENT.${'a'.repeat(128)}`, `US.ENT.${'a'.repeat(128)}`],
  ])('%j is read as %j', (text, expected) => {
    expect(parseBsuid(text)).toBe(expected);
  });

  test('recognises every BSUID with and without the prefix', () => {
    fc.assert(
      fc.property(country, fc.boolean(), alphanumerics(128), (xx, parent, rest) => {
        const bsuid = `${xx}.${parent ? 'ENT.' : ''}${rest}`;
        expect(parseBsuid(bsuid)).toBe(bsuid);
        expect(parseBsuid(`whatsapp:${bsuid}`)).toBe(bsuid);
        expect(isParentBsuid(bsuid)).toBe(parent);
      }),
    );
  });

  test('a BSUID is never a phone number, however its digits look', () => {
    fc.assert(
      fc.property(country, fc.stringMatching(/^[0-9]{1,20}$/), (xx, digits) => {
        expect(normalisePhone(`${xx}.${digits}`)).toBeNull();
        expect(normalisePhone(`whatsapp:${xx}.${digits}`)).toBeNull();
      }),
    );
  });

  test('rejects a long hostile text quickly', () => {
    expect(parseBsuid(`whatsapp:US.ENT.${'a'.repeat(1_000_000)}`)).toBeNull();
  });
});

test('isParentBsuid distinguishes the parent form from the plain one', () => {
  expect(isParentBsuid('whatsapp:US.ENT.1')).toBe(true);
  expect(isParentBsuid('US.ENT')).toBe(false);
  expect(isParentBsuid('US.1')).toBe(false);
  expect(isParentBsuid('no id .ENT. at all')).toBe(false);
});
