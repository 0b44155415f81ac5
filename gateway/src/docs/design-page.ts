// Renders GET /docs/design: the design tokens that the console, the documentation and the sign-up
// page share.
import { SCALES, TOKENS } from '../design/css';
import { html, table, type Html } from './html';
import { shell, type NavGroup } from './shell';

type Scale = keyof typeof SCALES;

/** The title of each scale, and what a sample shows. */
const TITLES: Readonly<Record<Scale, { title: string; text: string }>> = {
  space: { title: 'Space', text: '' },
  type: { title: 'Type', text: 'Your order is on its way' },
  radius: { title: 'Radius', text: '' },
};

const scaleOf = (scale: Scale): Html =>
  html`<h2 id="${scale}">${TITLES[scale].title}</h2>
    ${table(
      ['Token', 'Sample', 'Value', 'For'],
      SCALES[scale].map(({ name, value, use }) => [
        html`<code>--${name}</code>`,
        html`<span class="sample-${scale} sample-${name}">${TITLES[scale].text}</span>`,
        html`<code>${value}</code>`,
        use,
      ]),
    )}`;

export const designPage = (nav: readonly NavGroup[]): string =>
  shell({
    title: 'Design tokens',
    nav,
    slug: 'design',
    body: html`<h1>Design tokens</h1>
      <p>
        The colours and sizes of the console, this documentation, the changelog and the sign-up
        page. A colour has a value for a light and for a dark scheme; a page follows the scheme of
        the reader. Text has a contrast of at least 4.5 to 1 on its ground, edges of fields of 3 to
        1.
      </p>
      <h2 id="colours">Colours</h2>
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
      ${(Object.keys(SCALES) as Scale[]).map(scaleOf)}
      <p>
        Texts are in the system&rsquo;s sans-serif font. The values are in
        <code>gateway/src/design/tokens.json</code>.
      </p>`,
  });
