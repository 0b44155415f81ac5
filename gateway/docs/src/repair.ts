// Repairs what the renderer of the reference leaves wrong for screen readers: controls without a
// name, states and roles that their elements cannot have, and a link that has nothing to do with
// this API. The renderer draws parts again, so repairs are repeated: each is idempotent.

const set = (element: Element, name: string, value: string): void => {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};

const isNamed = (element: Element): boolean =>
  ['aria-label', 'aria-labelledby', 'title'].some((name) => element.hasAttribute(name));

const hasText = (element: Element): boolean => (element.textContent ?? '').trim() !== '';

/** A state that the role of the element does not have becomes one that it has. */
function replaceSelected(element: Element, state: string): void {
  const selected = element.getAttribute('aria-selected');
  if (selected === null) return;
  element.removeAttribute('aria-selected');
  element.setAttribute(state, selected);
}

/** Removes a reference to an element that does not exist. */
function removeDangling(element: Element, name: string): void {
  if (!document.getElementById(element.getAttribute(name) ?? '')) element.removeAttribute(name);
}

type Repair = (element: Element) => void;

const REPAIRS: ReadonlyArray<[selector: string, repair: Repair]> = [
  [
    'a[href^="https://www.scalar.com"], a[href^="https://scalar.com"]',
    (element) => element.remove(),
  ],
  ['aside[role="navigation"]', (element) => element.removeAttribute('role')],
  ['button[aria-selected]:not([role])', (element) => replaceSelected(element, 'aria-current')],
  [
    // A list of tabs must not hold the button that lists more of them.
    '.client-libraries-list [role="tab"]',
    (element) => {
      element.removeAttribute('role');
      replaceSelected(element, 'aria-pressed');
    },
  ],
  [
    '.client-libraries-list',
    (element) => {
      set(element, 'role', 'group');
      element.removeAttribute('aria-orientation');
    },
  ],
  ['button.client-libraries__select', (element) => set(element, 'aria-label', 'More languages')],
  // On a phone the renderer has a header of its own below that of the page.
  ['header:not(.top)', (element) => set(element, 'role', 'group')],
  // Each endpoint has one of the same name.
  ['.scalar-card[role="region"]', (element) => set(element, 'role', 'group')],
  [
    'button.code-copy, button.scalar-code-copy',
    (element) => set(element, 'aria-label', 'Copy the code'),
  ],
  [
    'button',
    (element) => {
      if (!hasText(element) && !isNamed(element)) element.setAttribute('aria-label', 'Change');
    },
  ],
  [
    'button.show-more',
    (element) => {
      const text = (element.textContent ?? '').trim();
      const name = element.getAttribute('aria-label') ?? '';
      if (!name.includes(text)) element.setAttribute('aria-label', `${text}: ${name}`);
    },
  ],
  [
    '[role="textbox"]',
    (element) => {
      if (isNamed(element)) return;
      element.setAttribute('aria-label', element.getAttribute('aria-placeholder') ?? 'Text');
    },
  ],
  [
    // A list that scrolls is reached with the keyboard.
    'ul.endpoints',
    (element) => {
      const { scrollHeight, clientHeight, scrollWidth, clientWidth } = element;
      const scrolls = scrollHeight > clientHeight || scrollWidth > clientWidth;
      if (scrolls) set(element, 'tabindex', '0');
    },
  ],
  // The dialog for trying a request. Its sections are not landmarks of the page.
  [
    '[role="dialog"] section.contents, section[aria-label^="Notifications"]',
    (element) => set(element, 'role', 'group'),
  ],
  ['button[role="none"]', (element) => element.removeAttribute('role')],
  ['div[aria-label^="undefined "]', (element) => element.removeAttribute('aria-label')],
  [
    '[role="dialog"] input[type="checkbox"]',
    (element) => {
      if (!isNamed(element)) element.setAttribute('aria-label', 'Send it');
    },
  ],
  // Tooltips are named before they exist, and a copy button names a block that has another id.
  ['[role="dialog"] [aria-describedby]', (element) => removeDangling(element, 'aria-describedby')],
  [
    '[role="dialog"] [aria-controls]:not([aria-expanded])',
    (element) => removeDangling(element, 'aria-controls'),
  ],
  // An answer that scrolls is reached with the keyboard.
  ['[role="dialog"] .cm-scroller', (element) => set(element, 'tabindex', '0')],
  ['[role="dialog"] aside', (element) => set(element, 'role', 'none')],
  [
    '[role="dialog"]',
    (element) => {
      if (!isNamed(element)) element.setAttribute('aria-label', 'Try a request');
    },
  ],
];

export function repair(root: ParentNode): void {
  for (const [selector, mend] of REPAIRS) root.querySelectorAll(selector).forEach(mend);
}
