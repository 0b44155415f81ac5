// The search of the console, and the list of its keys: loaded when one of them is first opened.
import { Combobox, Kbd, Table, Text, TextInput, useCombobox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { createFinder, type Entry } from '@bmg/docs/src/find';
import { useMay } from '../api/queries';
import { Dialog } from '../parts/dialogs';
import { MORE_SCREENS, namedPlaces, placesWith, type Place } from './places';

export type Opened = 'find' | 'keys';

interface Props {
  opened: Opened;
  /** The entries of the navigation, which the person may all open. */
  screens: readonly Place[];
  onClose: () => void;
}

const PAGES_MAX = 6;
const docs = new URL('../docs/', document.baseURI);

export function Dialogs({ opened, screens, onClose }: Props) {
  return opened === 'find' ? (
    <Dialog title="Find" size="lg" onClose={onClose}>
      <Find screens={screens} onDone={onClose} />
    </Dialog>
  ) : (
    <Dialog title="Keys" onClose={onClose}>
      <Keys />
    </Dialog>
  );
}

/** The pages of the documentation, by the words of a text. */
function usePages(text: string) {
  const { data: find } = useQuery({
    queryKey: ['docs-search'],
    queryFn: async () => {
      const answer = await fetch(new URL('search.json', docs));
      return createFinder((await answer.json()) as Entry[]);
    },
    staleTime: Infinity,
  });
  return text === '' || !find ? [] : find(text).slice(0, PAGES_MAX);
}

function Find({ screens, onDone }: { screens: readonly Place[]; onDone: () => void }) {
  const [typed, setTyped] = useState('');
  const combobox = useCombobox({ opened: true });
  const { selectFirstOption } = combobox;
  const navigate = useNavigate();
  const may = useMay();
  const text = typed.trim();
  const allowed = ({ scope }: Place): boolean => may(scope);
  const named = namedPlaces(text).filter(allowed);
  const all = [...screens, ...MORE_SCREENS.filter(allowed)];
  const found = text === '' ? screens : placesWith(text, all);
  const places = [...named, ...found];
  const pages = usePages(named.length > 0 ? '' : text);
  // Enter opens the first result.
  useEffect(() => void selectFirstOption(), [text, pages.length, selectFirstOption]);

  const go = (value: string): void => {
    const place = places.find(({ label }) => label === value);
    if (!place) return location.assign(new URL(value, docs));
    onDone();
    void navigate({ to: place.to, search: place.search ?? {} } as never);
  };
  return (
    <Combobox store={combobox} onOptionSubmit={go} withinPortal={false}>
      <Combobox.EventsTarget>
        <TextInput
          data-autofocus
          aria-label="Find"
          placeholder="A message, event or request ID, a phone number, a screen, a question"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </Combobox.EventsTarget>
      <Combobox.Options aria-label="Results" mt="sm" mah="55vh" style={{ overflowY: 'auto' }}>
        {places.map(({ label }) => (
          <Combobox.Option key={label} value={label}>
            {label}
          </Combobox.Option>
        ))}
        {pages.length > 0 && (
          <Combobox.Group label="Documentation">
            {pages.map(({ id, title, page }) => (
              <Combobox.Option key={id} value={id}>
                {title}{' '}
                <Text span size="sm" c="dimmed">
                  {page}
                </Text>
              </Combobox.Option>
            ))}
          </Combobox.Group>
        )}
        {places.length + pages.length === 0 && <Combobox.Empty>Nothing was found</Combobox.Empty>}
      </Combobox.Options>
    </Combobox>
  );
}

const KEYS: ReadonlyArray<readonly [keys: string[], what: string]> = [
  [['Ctrl', 'K'], 'Find (⌘ K on a Mac)'],
  [['/'], 'Find'],
  [['?'], 'These keys'],
  [['Enter'], 'Open the marked row'],
  [['Esc'], 'Close a dialog or a panel'],
];

function Keys() {
  return (
    <Table>
      <Table.Tbody>
        {KEYS.map(([keys, what]) => (
          <Table.Tr key={keys.join()}>
            <Table.Td w={130}>
              {keys.map((one) => (
                <Kbd key={one} mr={4}>
                  {one}
                </Kbd>
              ))}
            </Table.Td>
            <Table.Td>{what}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
