// Who makes a request comes from its key, session or token, and what it acts on from its path and
// headers: a body that names others changes nothing.
import { messageOf } from '../../../test/contract/request-messages';
import { inputOf, TARGET } from '../../../test/contract/rows';
import { requestFor } from '../edge/answer';
import { endpoints } from '.';
import { pathParametersOf, type Endpoint, type Fields } from './endpoint';

const CALLER = { key_id: 'key_1', person_id: 'per_1', session_id: 'cns_1', approval_above: 2 };
const SENT: Fields = { ...CALLER, caller_key_id: 'key_1', caller_person_id: 'per_1' };
const FORGED = {
  ...{ partner_id: 'ptn_9', key_id: 'key_9', person_id: 'per_9', session_id: 'cns_9' },
  ...{ caller_key_id: 'key_9', caller_person_id: 'per_9', caller_is_operator: true },
  ...{ target: { ...TARGET, partner_id: 'ptn_9' }, waba_id: '9', approval_above: 9 },
};
/** Bodies that a service gets whole. */
const WHOLE = ['body', 'call', 'settings', 'template', 'changes', 'profile'];

async function sentBy(endpoint: Endpoint, caller: object, forged: object = {}): Promise<Fields> {
  const { scope, body, example } = endpoint;
  const unknown = Object.entries(forged).filter(([name]) => !(name in (body?.properties ?? {})));
  const input = inputOf({
    params: Object.fromEntries(pathParametersOf(endpoint).map((name) => [name, '7'])),
    body: { ...example, ...Object.fromEntries(unknown) },
    ...(scope !== 'number' && { target: undefined }),
    ...(scope === 'filter' && { waba_id: '900' }),
    ...caller,
  });
  const message = messageOf(endpoint, await requestFor(endpoint)(input)) as Fields;
  return Object.fromEntries(Object.entries(message).filter(([name]) => !WHOLE.includes(name)));
}

const changes = endpoints.filter(({ verb }) => verb !== 'GET');

test.each(changes.map((row) => [`${row.verb} ${row.path}`, row] as const))(
  '%s takes the caller and its objects from the request, never from the body',
  async (_name, row) => {
    const named = Object.fromEntries(pathParametersOf(row).map((name) => [name, '9']));
    const sent = await sentBy(row, CALLER);
    const partner = { partner_id: 'ptn_1' };
    expect(sent).toMatchObject(row.scope === 'number' ? { target: partner } : partner);
    for (const [name, value] of Object.entries(SENT)) {
      if (name in sent && !(name in named)) expect([name, sent[name]]).toEqual([name, value]);
    }
    const forged = { ...FORGED, ...named };
    expect(await sentBy(row, CALLER, forged)).toEqual(sent);
    // The partner key, of all accounts.
    const all = { waba_id: undefined };
    expect(await sentBy(row, all, forged)).toEqual(await sentBy(row, all));
  },
);
