// The design tokens as style sheets: one set for the console, the documentation, the changelog and
// the sign-up page. The values are in tokens.json.
import { radius, space, tokens, type } from './tokens.json';

export interface Token {
  name: string;
  light: string;
  dark: string;
  /** What it colours, for the page that shows the tokens. */
  use: string;
}

/** A size, the same in every scheme. */
export interface Size {
  name: string;
  value: string;
  use: string;
}

export const TOKENS: readonly Token[] = tokens;
export const SCALES: Readonly<Record<'space' | 'type' | 'radius', readonly Size[]>> = {
  space,
  type,
  radius,
};
export const SIZES: readonly Size[] = Object.values(SCALES).flat();

const variables = (value: (token: Token) => string): string =>
  TOKENS.map((token) => `--${token.name}: ${value(token)};`).join(' ');
const sizes = SIZES.map(({ name, value }) => `--${name}: ${value};`).join(' ');

/** For pages that follow the scheme of the browser, old ones included. */
export const tokensCss = (): string =>
  `:root { color-scheme: light dark; ${variables(({ light }) => light)} ${sizes} }
@media (prefers-color-scheme: dark) { :root { ${variables(({ dark }) => dark)} } }
`;

/**
 * For the console, where a person chooses the scheme; its build takes it. Needs a browser of 2024
 * or newer.
 */
export const chosenSchemeCss = (): string =>
  `:root { ${variables(({ light, dark }) => `light-dark(${light}, ${dark})`)} ${sizes} }`;

/** How a sample shows a size. */
const SHOWN: Readonly<Record<keyof typeof SCALES, string>> = {
  space: 'width',
  type: 'font-size',
  radius: 'border-radius',
};

/** Samples for the page that shows the tokens: inline styles are not allowed there. */
export const samplesCss = (): string =>
  [
    ...TOKENS.map(({ name }) => `.sample-${name} { background: var(--${name}); }`),
    ...(Object.keys(SCALES) as Array<keyof typeof SCALES>).flatMap((scale) =>
      SCALES[scale].map(({ name }) => `.sample-${name} { ${SHOWN[scale]}: var(--${name}); }`),
    ),
  ].join('\n');
