// Renders the page for a person whose link leads nowhere.
import { html } from './html';
import { shell, type NavGroup } from './shell';

/** `root` leads to the gateway's root from every address. */
export const lostPage = (nav: readonly NavGroup[], root: string): string =>
  shell({
    title: 'No such page',
    nav,
    root,
    body: html`<h1>There is no such page</h1>
      <p class="lead">The link is old or incomplete. Nothing was changed.</p>
      <ul>
        <li>Guides and reference: <a href="${root}docs">documentation</a>, or the search above.</li>
        <li>Your messages, numbers and events: <a href="${root}dashboard">console</a>.</li>
        <li>
          An invitation or a sign-up: the address is in the message that you received. If it does
          not open, ask the sender for a new link.
        </li>
      </ul>`,
  });
