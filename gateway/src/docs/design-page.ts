// Renders GET /docs/design: the design tokens that the console, the documentation and the sign-up page share.
import { TOKENS } from '../design/css';
import { html, table } from './html';
import { shell, type NavGroup } from './shell';

export const designPage = (nav: readonly NavGroup[]): string =>
  shell({
    title: 'Design tokens',
    nav,
    slug: 'design',
    body: html`<h1>Design tokens</h1>
      <p>
        The colours of the console, this documentation, the changelog and the sign-up page. Each has
        a value for a light and for a dark scheme; a page follows the scheme of the reader. Text has
        a contrast of at least 4.5 to 1 on its ground, edges of fields of 3 to 1.
      </p>
      ${table(
        ['Token', 'Sample', 'Light', 'Dark', 'For'],
        TOKENS.map(({ name, light, dark, use }) => [
          html`<code>--${name}</code>`,
          html`<span class="sample sample-${name}"></span>`,
          html`<code>${light}</code>`,
          html`<code>${dark}</code>`,
          use,
        ]),
      )}
      <p>
        Texts are in the system&rsquo;s sans-serif font. The values are in
        <code>gateway/src/design/tokens.json</code>.
      </p>`,
  });
