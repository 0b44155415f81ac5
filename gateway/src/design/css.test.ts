import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SIZES, TOKENS, tokensCss } from './css';

const GATEWAY = join(__dirname, '../..');
const SHEETS = {
  console: 'console/src/style.css',
  documentation: 'docs/src/shell.css',
  'sign-up page': 'src/connect-page/page.css',
};

/** Relative luminance of a colour of six digits (WCAG 2). */
function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((one) =>
    one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const TEXT = 4.5;
const EDGE = 3;

test.each([
  ['ink', 'paper', TEXT],
  ['ink', 'soft', TEXT],
  ['dim', 'paper', TEXT],
  ['dim', 'soft', TEXT],
  ['accent', 'paper', TEXT],
  ['accent', 'soft', TEXT],
  ['on-accent', 'accent', TEXT],
  ['good', 'good-soft', TEXT],
  ['bad', 'bad-soft', TEXT],
  ['bad', 'paper', TEXT],
  ['literal', 'soft', TEXT],
  ['good', 'soft', TEXT],
  ['edge', 'paper', EDGE],
] as const)('%s on %s has enough contrast in both schemes', (front, ground, least) => {
  const token = (name: string) => TOKENS.find((one) => one.name === name);
  for (const scheme of ['light', 'dark'] as const) {
    const ratio = contrast(token(front)?.[scheme] ?? '', token(ground)?.[scheme] ?? '');
    expect([scheme, ratio >= least]).toEqual([scheme, true]);
  }
});

test.each(Object.entries(SHEETS))(
  'the style sheet of the %s takes its tokens from the set',
  (_name, file) => {
    const css = readFileSync(join(GATEWAY, file), 'utf8');
    const names = [...TOKENS, ...SIZES].map(({ name }) => name);
    for (const name of names) expect(css).not.toMatch(new RegExp(`^\\s*--${name}:`, 'm'));
    const used = [...css.matchAll(/var\(--([a-z-]+)\)/g)].map(([, name]) => name as string);
    const own = used.filter((name) => !/^(mantine|app-shell|columns|bar)/.test(name));
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter((name) => !names.includes(name))).toEqual([]);
  },
);

test('the sheet defines every token for both schemes, and every size', () => {
  const values = [
    ...TOKENS.flatMap(({ name, light, dark }) => [light, dark].map((value) => ({ name, value }))),
    ...SIZES,
  ];
  for (const { name, value } of values) expect(tokensCss()).toContain(`--${name}: ${value};`);
});
