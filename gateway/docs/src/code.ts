// The code blocks of a page: tabs for the languages of a sample, a button that copies, the reader's
// own number, and colours. A block is coloured when it comes near the window, because a chapter of
// the reference has more code than a slow phone colours at once.
import { element } from './element';
import { fill, findReader, SAMPLE, type Reader, type ReaderNumber } from './reader';

interface Block {
  pre: HTMLPreElement;
  code: HTMLElement;
  language: string;
  title: string;
  /** The sample that the guide has. */
  source: string;
}

/** How long a button says that it has copied. */
const SAID_MS = 2_000;

const boxes = [...document.querySelectorAll<HTMLElement>('.code')];
const blocks: Block[] = boxes.flatMap((box) =>
  [...box.querySelectorAll('pre')].map((pre) => {
    const code = pre.querySelector('code') as HTMLElement;
    const { language = '', title = '' } = pre.dataset;
    return { pre, code, language, title, source: code.textContent ?? '' };
  }),
);

/** Where the language of samples that the reader chose last is kept, for all pages. */
const LANGUAGE = 'docs-language';

/** The name of its tab; null if the reader has chosen none, or the browser keeps nothing. */
function chosenLanguage(): string | null {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null;
  }
}

function rememberLanguage(title: string): void {
  try {
    localStorage.setItem(LANGUAGE, title);
  } catch {
    // A browser that keeps nothing shows the first language.
  }
}

/** Shows a language in every sample that has it. */
function choose(title: string): void {
  for (const box of boxes) {
    const pres = [...box.querySelectorAll('pre')];
    if (!pres.some(({ dataset }) => dataset['title'] === title)) continue;
    for (const pre of pres) pre.hidden = pre.dataset['title'] !== title;
    for (const tab of box.querySelectorAll<HTMLElement>('[role=tab]')) {
      const is_chosen = tab.textContent === title;
      tab.setAttribute('aria-selected', String(is_chosen));
      tab.tabIndex = is_chosen ? 0 : -1;
    }
  }
}

function tabOf(pre: HTMLPreElement, id: string): HTMLButtonElement {
  const { title = '' } = pre.dataset;
  pre.id = id;
  pre.setAttribute('role', 'tabpanel');
  pre.setAttribute('aria-labelledby', `${id}-tab`);
  const tab = element(
    'button',
    { type: 'button', role: 'tab', id: `${id}-tab`, 'aria-controls': id },
    title,
  );
  tab.addEventListener('click', () => {
    const top = tab.getBoundingClientRect().top;
    choose(title);
    rememberLanguage(title);
    // Samples above have changed their height: the one that was chosen stays where it was.
    window.scrollBy(0, tab.getBoundingClientRect().top - top);
  });
  return tab;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

function tabsOf(pres: HTMLPreElement[], id: string): HTMLElement {
  const tabs = pres.map((pre, at) => tabOf(pre, `${id}-${at}`));
  const list = element('div', { role: 'tablist', 'aria-label': 'Language' }, ...tabs);
  list.addEventListener('keydown', ({ key, target }) => {
    const at = tabs.indexOf(target as HTMLButtonElement);
    const next = tabs[(at + (STEPS[key] ?? 0) + tabs.length) % tabs.length];
    if (next === target) return;
    next?.click();
    next?.focus();
  });
  return list;
}

function copyButton(box: HTMLElement): HTMLButtonElement {
  const button = element('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', async () => {
    const code = box.querySelector('pre:not([hidden]) code')?.textContent ?? '';
    await navigator.clipboard.writeText(code);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), SAID_MS);
  });
  return button;
}

boxes.forEach((box, at) => {
  const pres = [...box.querySelectorAll('pre')];
  const name =
    pres.length > 1
      ? tabsOf(pres, `code-${at}`)
      : element('span', {}, pres[0]?.dataset['title'] ?? '');
  box.prepend(element('div', { class: 'code-head' }, name, copyButton(box)));
  box.classList.add('ready');
});

let shown: { reader: Reader; number: ReaderNumber | undefined } | undefined;
const textOf = ({ source }: Block): string =>
  shown ? fill(source, shown.reader, shown.number) : source;

type Highlight = (typeof import('./highlighter'))['highlight'];
let highlight: Highlight | undefined;
const colour = (block: Block): void => {
  highlight?.(block.code, textOf(block), block.language);
  waiting.delete(block);
  observer.unobserve(block.pre);
};

/** Blocks near the window that have no colours yet. */
const waiting = new Set<Block>();
let is_colouring = false;

/** One block in a task, so that the page reacts in between. */
async function colourWaiting(): Promise<void> {
  if (is_colouring) return;
  is_colouring = true;
  try {
    ({ highlight } = await import('./highlighter'));
    for (const block of waiting) {
      colour(block);
      await new Promise((resolve) => setTimeout(resolve));
    }
  } finally {
    is_colouring = false;
  }
}

/** A block of a language that is not shown is never near the window. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const block = blocks.find(({ pre }) => pre === target);
      if (block && isIntersecting) waiting.add(block);
      else if (block) waiting.delete(block);
    }
    if (waiting.size > 0) void colourWaiting();
  },
  { rootMargin: '50% 0px' },
);

/** Shows the texts with the reader's number. */
function fillIn(): void {
  for (const block of blocks) {
    block.code.textContent = textOf(block);
    observer.unobserve(block.pre);
    observer.observe(block.pre);
  }
}

window.addEventListener('beforeprint', () => {
  for (const block of blocks) if (!block.pre.hidden) colour(block);
});

/** The note about whose number the samples have, with a choice if there are several. */
function noteOf(reader: Reader): HTMLElement {
  const show = (number: ReaderNumber | undefined): void => {
    shown = { reader, number };
    fillIn();
  };
  const [first, ...others] = reader.numbers;
  show(first);
  const select = element('select', { 'aria-label': 'Number of the samples' });
  reader.numbers.forEach(({ name }) => select.append(element('option', {}, name)));
  select.addEventListener('change', () => show(reader.numbers[select.selectedIndex]));
  const whose = first
    ? ['The samples name your number ', others.length > 0 ? select : first.name]
    : ['You have no number yet'];
  return element(
    'p',
    { class: 'notice', id: 'reader' },
    ...whose,
    '. Your key is ',
    element('code', {}, reader.key_hint),
    ': no page has the whole of it, so set KEY in your terminal.',
  );
}

const has_placeholders = blocks.some(({ source }) =>
  Object.values(SAMPLE).some((sample) => source.includes(sample)),
);

/** Prepares the code of the page. */
export async function prepareCode(): Promise<void> {
  if (blocks.length === 0) return;
  choose(chosenLanguage() ?? 'curl');
  for (const { pre } of blocks) observer.observe(pre);
  const reader = has_placeholders ? await findReader() : undefined;
  // On the home page the samples stand side by side, below the note.
  const first = document.querySelector('.hero') ?? boxes[0];
  if (reader) first?.before(noteOf(reader));
}
