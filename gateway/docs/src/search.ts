// The search field of the documentation: guides, endpoints, events and error codes. The index is
// loaded when the field is first used.
import { element } from './element';
import { createFinder, type Entry, type Found } from './find';

const SHOWN_MAX = 12;

const field = document.querySelector<HTMLInputElement>('.search input') as HTMLInputElement;
const list = document.querySelector<HTMLUListElement>('.found') as HTMLUListElement;
const status = document.querySelector<HTMLElement>('.search [role=status]') as HTMLElement;
/** `docs/` or nothing: where the documentation's root is, seen from this page. */
const root = document.body.dataset['docs'] ?? '';
let finder: Promise<(query: string) => Found[]> | undefined;

const loadFinder = async (): Promise<(query: string) => Found[]> =>
  createFinder((await (await fetch(`${root}search.json`)).json()) as Entry[]);

const itemOf = ({ id, title, page }: Found): HTMLElement =>
  element(
    'li',
    {},
    element('a', { href: root + id }, title, element('small', { class: 'dim' }, page)),
  );

const noteOf = (text: string): HTMLElement => element('li', { class: 'note dim' }, text);

async function itemsOf(query: string): Promise<HTMLElement[]> {
  if (query === '') return [];
  finder ??= loadFinder();
  try {
    const found = (await finder)(query).slice(0, SHOWN_MAX);
    return found.length > 0 ? found.map(itemOf) : [noteOf(`Nothing was found for “${query}”.`)];
  } catch {
    // The next search loads the index again.
    finder = undefined;
    return [noteOf('The search could not be loaded. Check your connection and search again.')];
  }
}

async function show(): Promise<void> {
  const query = field.value.trim();
  const items = await itemsOf(query);
  if (query !== field.value.trim()) return;
  list.replaceChildren(...items);
  list.hidden = items.length === 0;
  const count = links().length;
  const is_note = items.length > 0 && count === 0;
  status.textContent = is_note ? list.textContent : query === '' ? '' : `${count} found`;
}

field.addEventListener('input', () => void show());
field.addEventListener('focus', () => void show());
const links = (): HTMLAnchorElement[] => [...list.querySelectorAll('a')];
/** Enter opens the best result, the arrows lead through the list. */
field.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  // The results of what was typed last may still be on their way.
  void show().then(() => links()[0]?.click());
});
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
field.closest('.search')?.addEventListener('keydown', (event) => {
  const step = STEPS[(event as KeyboardEvent).key];
  if (step === undefined || list.hidden) return;
  event.preventDefault();
  const places: HTMLElement[] = [field, ...links()];
  const at = places.indexOf(document.activeElement as HTMLElement);
  places[(at + step + places.length) % places.length]?.focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') list.hidden = true;
  if (event.key !== '/' || event.target !== document.body) return;
  event.preventDefault();
  field.focus();
});
/** A result on this page leaves it open, so the list would stay. */
document.addEventListener('click', ({ target }) => {
  const clicked = target as Element;
  if (!clicked.closest('.search') || clicked.closest('.found a')) list.hidden = true;
});
