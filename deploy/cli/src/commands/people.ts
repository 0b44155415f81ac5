// `bmg people …`: the people who sign in to the console of a partner.
import { Option, type Command } from 'commander';
import { ROLES } from '@bmg/common/people';
import { AuditDefinition } from '@bmg/proto/audit';
import { PeopleDefinition, type Person } from '@bmg/proto/people';
import { action, adder, count, record, type Answer, type Of } from '../action';
import { change } from '../recorded';
import { rejected, type Session } from '../session';

export function addPeopleCommands(program: Command): void {
  const add = adder(
    program
      .command('people')
      .description('manage the people who sign in to the console of a partner'),
    'the partner whose console it is',
  );

  add('list', 'list the people with role and last sign-in, oldest first').action(action(list));

  add('invite', 'invite a person; the link is shown only once, and no mail is sent')
    .requiredOption('--email <address>', 'the e-mail address of the person')
    .addOption(role())
    .action(change(invite, { made: 'person_id' }));

  add('update <person_id>', 'change the role of a person')
    .addOption(role())
    .action(change(update, { before_of: 'person' }));

  add('remove <person_id>', 'end the access of a person: passkeys, sessions and invitation').action(
    change(remove, { before_of: 'person', before: ['email', 'role', 'state'] }),
  );

  add(
    'erase <person_id>',
    'clear the addresses of a removed person from the records of the audit log, which stay',
  ).action(change(erase));
}

const role = (): Option =>
  new Option('--role <role>', 'what the person may do').choices(ROLES).makeOptionMandatory();

const peopleOf = (session: Session) => session.client(PeopleDefinition);

async function list(session: Session, { partner }: Of): Promise<Answer> {
  await session.requirePartner(partner);
  const { people, people_max } = await peopleOf(session).listPeople({ partner_id: partner });
  return {
    json: { people: people.map(shown), people_max },
    text:
      people.map(describe).join('\n') || 'No people: the console is opened with the partner key.',
  };
}

async function invite(
  session: Session,
  { partner, email, role }: Of & { email: string; role: string },
): Promise<Answer> {
  const { person, invitation_url } = await peopleOf(session)
    .invitePerson({ partner_id: partner, email, role, caller_is_operator: true })
    .catch(rejected);
  const invited = person as Person;
  return {
    json: { ...shown(invited), invitation_url },
    text: [
      describe(invited),
      `link  ${invitation_url}`,
      'Give the link to this person only: it signs in, and it is not shown again.',
    ].join('\n'),
  };
}

async function update(
  session: Session,
  person_id: string,
  { partner, role }: Of & { role: string },
): Promise<Answer> {
  const request = { partner_id: partner, person_id, role, caller_is_operator: true };
  const person = await peopleOf(session).updatePerson(request);
  return { json: shown(person), text: describe(person) };
}

async function remove(session: Session, person_id: string, { partner }: Of): Promise<Answer> {
  const request = { partner_id: partner, person_id, caller_is_operator: true };
  await peopleOf(session).removePerson(request);
  return { json: { person_id, removed: true }, text: `${person_id} has no access.` };
}

async function erase(session: Session, person_id: string, { partner }: Of): Promise<Answer> {
  await session.requirePartner(partner);
  const audit = session.client(AuditDefinition);
  const request = { partner_id: partner, person_id };
  const { records } = await audit.eraseAuditPerson(request).catch(rejected);
  const text = `${count(records, 'record')} of the audit log name ${person_id} no more.`;
  return { json: { person_id, records }, text };
}

/** GET /v1/people shows the same fields. */
const shown = (person: Person): Record<string, unknown> => ({
  ...record({
    invitation_expires_at: undefined,
    passkey_added_at: undefined,
    last_login_at: undefined,
  }),
  ...record(person),
  invited_by: record({ id: undefined, name: undefined, ...person.invited_by }),
});

const describe = (person: Person): string =>
  [
    person.person_id,
    person.role.padEnd(9),
    person.state.padEnd(7),
    person.last_login_at ? `signed in ${person.last_login_at.toISOString()}` : 'never signed in',
    person.email_verified ? person.email : `${person.email} (not verified)`,
  ].join('  ');
