import { phone, readPlain } from '../../test/builders';
import { readContacts } from './validate-request';
import { createFiller } from '../template/params';

test('normalises phone numbers and BSUIDs', async () => {
  const { contacts, places } = await readPlain([
    { recipient: '+1 (555) 010-0777' },
    { recipient: ' US.4Qm7Zr81Kd02 ' },
    { recipient: 'whatsapp:US.ENT.4Qm7' },
  ]);
  expect(contacts.map(({ recipient }) => recipient)).toEqual([
    '15550100777',
    'US.4Qm7Zr81Kd02',
    'US.ENT.4Qm7',
  ]);
  expect(places).toEqual([0, 1, 2]);
});

test('skips contacts without a recipient, and keeps the first of duplicates', async () => {
  const { contacts, skipped, duplicates, places } = await readPlain([
    {},
    { recipient: ' ' },
    { recipient: '15550100777', params: { '1': 'first' } },
    { recipient: '+1 555 010 0777', params: { '1': 'second' } },
    { recipient: '15550100778' },
  ]);
  expect(skipped).toBe(2);
  expect(duplicates).toBe(1);
  expect(contacts).toEqual([
    { recipient: '15550100777', params: { '1': 'first' } },
    { recipient: '15550100778', params: null },
  ]);
  expect(places).toEqual([2, 4]);
});

test('keeps the first of two spellings of a number, as it was written', async () => {
  const { contacts, duplicates } = await readPlain([
    { recipient: '+55 11 8765-0001' },
    { recipient: '5511987650001' },
    { recipient: '+52 1 55 1234 5678' },
    { recipient: '525512345678' },
    { recipient: '551141234567' },
    { recipient: '5511941234567' },
  ]);
  expect(contacts.map(({ recipient }) => recipient)).toEqual([
    '551187650001',
    '5215512345678',
    '551141234567',
    '5511941234567',
  ]);
  expect(duplicates).toBe(2);
});

test('an invalid recipient names its contact and up to 20 others', async () => {
  const list = Array.from({ length: 40 }, (_, at) => ({ recipient: at % 2 ? 'abc' : phone(at) }));
  const also = Array.from({ length: 19 }, (_, at) => `contacts[${2 * at + 3}].recipient`);
  await expect(readPlain(list)).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'contacts[1].recipient', also },
  });
});

test('params that lack a placeholder’s value name their contact', async () => {
  const filler = createFiller([{ type: 'body', parameters: [{ type: 'text', text: '{{name}}' }] }]);
  const contacts = [{ recipient: phone(1), params: { name: 'Ada' } }, { recipient: phone(2) }];
  await expect(readContacts(contacts, filler)).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    details: { field: 'contacts[1].params' },
  });
});

test('accepts 10,000 contacts and not one more', async () => {
  const list = Array.from({ length: 10_001 }, (_, at) => ({ recipient: phone(at) }));
  expect((await readPlain(list.slice(1))).contacts).toHaveLength(10_000);
  await expect(readPlain(list)).rejects.toMatchObject({
    code: 'TOO_MANY_CONTACTS',
    http: 403,
  });
});
