// The design tokens as style sheets: one set for the console, the documentation, the changelog and the sign-up
// page. The values are in tokens.json.
import { tokens } from './tokens.json';

export interface Token {
  name: string;
  light: string;
  dark: string;
  /** What it colours, for the page that shows the tokens. */
  use: string;
}

export const TOKENS: readonly Token[] = tokens;

const variables = (value: (token: Token) => string): string =>
  TOKENS.map((token) => `--${token.name}: ${value(token)};`).join(' ');

/**
 * For pages that follow the scheme of the browser, old ones included. In the console a person chooses the
 * scheme: its build (gateway/console/vite.config.mts) reads the same values.
 */
export const tokensCss = (): string =>
  `:root { color-scheme: light dark; ${variables(({ light }) => light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(({ dark }) => dark)} } }
`;

/** Samples for the page that shows the tokens: inline styles are not allowed there. */
export const samplesCss = (): string =>
  TOKENS.map(({ name }) => `.sample-${name} { background: var(--${name}); }`).join('\n');
