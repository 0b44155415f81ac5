// The search of the documentation: guides, endpoints, events and error codes, by words and beginnings of
// words. The index is loaded when the field is first used.
import MiniSearch from 'minisearch';

interface Entry {
  /** Where it is found, relative to the root of the documentation. */
  id: string;
  title: string;
  page: string;
  text: string;
}

const SHOWN_MAX = 12;

const field = document.querySelector<HTMLInputElement>('.search input') as HTMLInputElement;
const list = document.querySelector<HTMLUListElement>('.found') as HTMLUListElement;
const status = document.querySelector<HTMLElement>('.search [role=status]') as HTMLElement;
/** `docs/` or nothing: where the documentation's root is, seen from this page. */
const root = field.dataset['root'] ?? '';
let index: Promise<MiniSearch<Entry>> | undefined;

async function loadIndex(): Promise<MiniSearch<Entry>> {
  const entries = (await (await fetch(`${root}search.json`)).json()) as Entry[];
  const search = new MiniSearch<Entry>({
    fields: ['title', 'text'],
    storeFields: ['title', 'page'],
    searchOptions: { boost: { title: 4 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
    // The parts of a name are words too: `message.received`, `scheduled_at`.
    tokenize: (text) => text.split(/[\s\p{P}]+/u),
  });
  search.addAll(entries);
  return search;
}

async function show(): Promise<void> {
  const query = field.value.trim();
  index ??= loadIndex();
  const found = query === '' ? [] : (await index).search(query).slice(0, SHOWN_MAX);
  if (query !== field.value.trim()) return;
  list.replaceChildren(
    ...found.map(({ id, title, page }) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      const where = document.createElement('small');
      link.href = root + String(id);
      link.textContent = String(title);
      where.textContent = String(page);
      where.className = 'dim';
      link.append(where);
      item.append(link);
      return item;
    }),
  );
  list.hidden = found.length === 0;
  status.textContent = query === '' ? '' : `${found.length} found`;
}

field.addEventListener('input', () => void show());
field.addEventListener('focus', () => void show());
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') list.hidden = true;
  if (event.key !== '/' || event.target !== document.body) return;
  event.preventDefault();
  field.focus();
});
document.addEventListener('click', ({ target }) => {
  if (!(target as Element).closest('.search')) list.hidden = true;
});
