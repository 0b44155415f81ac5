import { namesContact } from './match';

const envelope = (data: object): Buffer => Buffer.from(JSON.stringify({ event: 'e', data }));

test.each([
  ['a number in `from`', { from: '15550100777' }, '15550100777', true],
  ['a participant', { participant: '15550100777', recipient: null }, '15550100777', true],
  ['a changed number', { phone_number: '15550100777', bsuid: null }, '15550100777', true],
  ['a number in the other spelling', { to: '551187650001' }, '5511987650001', true],
  ['a number in the longer spelling', { recipient: '5215512345678' }, '525512345678', true],
  ['a BSUID', { bsuid: 'US.4Qm7Zr81Kd02' }, 'US.4Qm7Zr81Kd02', true],
  ['a number that is only in the text', { text: 'call 15550100777' }, '15550100777', false],
  ['a landline that looks alike', { from: '551141234567' }, '5511941234567', false],
])('an event with %s is found: %j for %s', (_what, data, contact, found) => {
  expect(namesContact(envelope(data), contact)).toBe(found);
});
