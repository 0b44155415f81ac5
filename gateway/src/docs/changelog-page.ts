// Renders GET /changelog: the active notices and the version history.
import { API_VERSION, NOTICES } from '@bmg/common/notices';
import { HISTORY, NOTICE_TEXTS } from './history';
import { html, table } from './html';
import { shell, type NavGroup } from './shell';

export const changelogPage = (nav: readonly NavGroup[]): string =>
  shell({
    title: `Changelog ${API_VERSION}`,
    nav,
    outside: true,
    body: html`<h1>Changelog</h1>
      <p class="dim">Current version ${API_VERSION}</p>
      <h2 id="notices">Active notices</h2>
      <p>
        Every response lists them in <code>X-Service-Notice</code>, every event in
        <code>meta.notices</code>. An ID never changes, so you can suppress notices that you have
        handled.
      </p>
      ${NOTICES.map(
        ({ id, severity, effective }) =>
          html`<div class="notice" id="${id}">
            <p>
              <code>${id}</code><br /><strong>${severity}</strong>, effective
              <time datetime="${effective}">${effective}</time>
            </p>
            <p>${NOTICE_TEXTS[id] ?? ''}</p>
          </div> `,
      )}
      <h2 id="history">History</h2>
      <p>Changes are additive unless noted.</p>
      ${table(
        ['Version', 'Date', 'Change'],
        HISTORY.map(({ version, date, change }) => [
          html`<strong id="v${version}">${version}</strong>`,
          date ?? '—',
          change,
        ]),
      )}`,
  });
