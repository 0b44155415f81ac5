// The reference: links of the time when it was one page lead on to the page of their row, the
// navigation marks the row that is read, and a button tries the request of an endpoint.
import { element } from './element';

/**
 * The anchor of a row in an address: `sendText`, and of older links `tag/messages/sendText` and
 * `webhook/message.received`.
 */
const anchor = decodeURIComponent(location.hash.slice(1)).split('/').at(-1) ?? '';

/** On the overview, a row or a chapter has a link to its page. */
const link = document.getElementById(anchor)?.querySelector<HTMLAnchorElement>(':scope > a');
if (document.querySelector('[data-overview]') && link) location.replace(link.href);

const links = new Map(
  [...document.querySelectorAll<HTMLAnchorElement>('.guides a[href^="#"]')].map((one) => [
    one.hash.slice(1),
    one,
  ]),
);

/** The row whose beginning is nearest above the upper third of the window is read. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) mark(links.get(target.id));
    }
  },
  { rootMargin: '-30% 0px -69% 0px' },
);

function mark(current: HTMLAnchorElement | undefined): void {
  for (const one of links.values()) {
    if (one === current) one.setAttribute('aria-current', 'true');
    else one.removeAttribute('aria-current');
  }
  const list = current?.closest('.guides');
  if (list && current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
}

for (const row of document.querySelectorAll('.row')) {
  observer.observe(row);
  const button = element('button', { type: 'button' }, 'Try it');
  button.addEventListener('click', () => {
    void import('./try').then(({ tryRequest }) => tryRequest(row.id));
  });
  row.querySelector('[data-try]')?.append(button);
}
