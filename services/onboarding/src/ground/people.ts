// The people of partners: one document for each partner, so that a rule about all of its people
// (their number, their addresses, the last owner) holds in one write.
import type { Collection, Db, Filter } from 'mongodb';
import { storeOnce, type Indexes } from '@bmg/common/mongo';
import type { Role } from '@bmg/common/people';

export interface Person {
  person_id: string;
  /** Normalised: unique in its partner. */
  email: string;
  role: Role;
  state: 'invited' | 'active';
  invited_by: { type: string; id: string | null; name: string | null };
  /** Null once it was accepted. */
  invitation: { token_hash: string; expires_at: Date } | null;
  /** The IDs of the records in `passkeys`: one that is not listed here does not sign in. */
  passkey_ids: string[];
  /** At the operator's issuer, with a verified address; null until the first log-in there. */
  identity: { issuer: string; subject: string } | null;
  /** The latest one's registration; absent without one since release 2.10. */
  passkey_added_at?: Date;
  last_login_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

interface PartnerPeople {
  /** The partner. */
  _id: string;
  /** Raised by each change. */
  version: number;
  people: Person[];
}

/** The people after a change, and what it returns. */
export interface Changed<T> {
  people: Person[];
  result: T;
}

export interface FoundPerson {
  partner_id: string;
  person: Person;
}

export type People = ReturnType<typeof createPeople>;

export const PEOPLE = 'people';
export const peopleIndexes: Indexes = {
  [PEOPLE]: [
    { key: { 'people.invitation.token_hash': 1 } },
    { key: { 'people.identity.subject': 1 } },
  ],
};
/** More than one is refused: further ones are not read. */
const FOUND_MAX = 10;

/** An attempt fails only if another change of the partner's people has just succeeded. */
const TRIES_MAX = 20;

export function createPeople(db: Db) {
  const documents: Collection<PartnerPeople> = db.collection(PEOPLE);
  const of = async (partner_id: string): Promise<Person[]> =>
    (await documents.findOne({ _id: partner_id }))?.people ?? [];
  const withAny = async (
    filter: Filter<PartnerPeople>,
    isSought: (person: Person) => boolean,
  ): Promise<FoundPerson[]> => {
    const found = await documents.find(filter).limit(FOUND_MAX).toArray();
    return found.flatMap(({ _id: partner_id, people }) =>
      people.filter(isSought).map((person) => ({ partner_id, person })),
    );
  };
  const replace = async (_id: string, before: PartnerPeople | null, people: Person[]) => {
    if (!before) return storeOnce(() => documents.insertOne({ _id, version: 1, people }));
    const { version } = before;
    const changed = { version: version + 1, people };
    return (await documents.updateOne({ _id, version }, { $set: changed })).matchedCount === 1;
  };
  return {
    /** In the order of their invitations. */
    of,
    find: async (partner_id: string, person_id: string) =>
      (await of(partner_id)).find((person) => person.person_id === person_id),
    /** The person whose invitation has one of these hashes, expired or not. */
    async findInvited(token_hashes: string[]) {
      const [found] = await withAny(
        { 'people.invitation.token_hash': { $in: token_hashes } },
        ({ invitation }) => invitation !== null && token_hashes.includes(invitation.token_hash),
      );
      return found;
    },
    /** The person of each partner with this identity. */
    withIdentity: ({ issuer, subject }: NonNullable<Person['identity']>) =>
      withAny(
        { 'people.identity.subject': subject },
        ({ identity }) => identity?.issuer === issuer && identity.subject === subject,
      ),
    /** Stores the people after `change`, which may run again. Nothing changes if it throws. */
    async change<T>(partner_id: string, change: (people: Person[]) => Changed<T>): Promise<T> {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const before = await documents.findOne({ _id: partner_id });
        const { people, result } = change(before?.people ?? []);
        if (await replace(partner_id, before, people)) return result;
      }
      throw new Error('failed to change the people of a partner: they kept changing');
    },
  };
}
