// Who is who in one value. Contacts are matched to items by id, never by place in the list, and
// looked up in an index, since a value may hold a thousand of both.

import { listOf, objectOf, stringOf, toText } from './read';

export interface Person {
  readonly name: string | null;
  readonly wa_id: string | null;
  readonly user_id: string | null;
}

export interface Contacts {
  readonly list: readonly unknown[];
  index: Index | null;
}

interface Index {
  readonly people: readonly Person[];
  readonly by_wa_id: ReadonlyMap<string, Person>;
  readonly by_user_id: ReadonlyMap<string, Person>;
}

/** Costs nothing until somebody is looked up. */
export function createContacts(list: unknown): Contacts {
  return { list: listOf(list), index: null };
}

/**
 * The person with that phone, else with that BSUID. An item that names nobody is the only
 * contact's; with several there is no telling.
 */
export function findPerson(
  contacts: Contacts,
  wa_id: string | null,
  user_id: string | null,
): Person | null {
  if (contacts.list.length === 0) return null;
  if (contacts.list.length === 1) return soleIfNamed(personOf(contacts.list[0]), wa_id, user_id);
  const { people, by_wa_id, by_user_id } = (contacts.index ??= indexOf(contacts.list));
  if (wa_id === null && user_id === null) return people.length === 1 ? (people[0] ?? null) : null;
  const known = wa_id === null ? undefined : by_wa_id.get(wa_id);
  return known ?? (user_id === null ? null : (by_user_id.get(user_id) ?? null));
}

/** Nearly every value has one contact: no index is worth its making then. */
function soleIfNamed(
  person: Person | null,
  wa_id: string | null,
  user_id: string | null,
): Person | null {
  if (wa_id === null && user_id === null) return person;
  if (wa_id !== null && person?.wa_id === wa_id) return person;
  return user_id !== null && person?.user_id === user_id ? person : null;
}

function indexOf(list: readonly unknown[]): Index {
  const people = list.flatMap((item) => personOf(item) ?? []);
  const by_wa_id = new Map<string, Person>();
  const by_user_id = new Map<string, Person>();
  for (const person of people) {
    if (person.wa_id !== null) by_wa_id.set(person.wa_id, person);
    if (person.user_id !== null) by_user_id.set(person.user_id, person);
  }
  return { people, by_wa_id, by_user_id };
}

function personOf(item: unknown): Person | null {
  const contact = objectOf(item);
  if (contact === null) return null;
  const name = stringOf(objectOf(contact.profile)?.name);
  return { name, wa_id: toText(contact.wa_id), user_id: toText(contact.user_id) };
}
