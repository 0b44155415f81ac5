import { subjectOf } from './subject';

test('names the contact and the message of an event', () => {
  expect(subjectOf({ data: { from: '15550100777', message_id: 'wamid.1' } })).toEqual({
    contact: '15550100777',
    message_id: 'wamid.1',
  });
  expect(subjectOf({ data: { recipient: 'US.abc', message_id: 'wamid.2' } }).contact).toBe(
    'US.abc',
  );
});

test('names no contact or message of an event about an account', () => {
  expect(subjectOf({ data: { template_name: 'hello' } })).toEqual({
    contact: null,
    message_id: null,
  });
  expect(subjectOf({})).toEqual({ contact: null, message_id: null });
});
