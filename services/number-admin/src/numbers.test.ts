import { NUMBER, OTHER_NUMBER, useRig, WABA } from '../test/build';

const OTHER = '800000000000009';
const LISTED = { data: [{ id: NUMBER }, { id: OTHER_NUMBER }] };
const OK = { success: true };

const rig = useRig();

const verify = (phone_number_id?: string) =>
  rig.run('verifyCode', { code: '123456', phone_number_id });
const paths = (): string[] => rig.upstream.asked.map(({ path }) => path);

test('uses the client’s own number without a request to the upstream', async () => {
  rig.upstream.answers(OK, OK);
  await verify();
  await verify(NUMBER);
  expect(paths()).toEqual(Array(2).fill(`/v26.0/${NUMBER}/verify_code`));
});

test('accepts another number of the account once the upstream lists it', async () => {
  rig.upstream.answers(LISTED, OK);
  await verify(OTHER_NUMBER);
  expect(paths()).toEqual([`/v26.0/${WABA}/phone_numbers`, `/v26.0/${OTHER_NUMBER}/verify_code`]);
});

test('caches a number that was found', async () => {
  rig.upstream.answers(LISTED, OK, OK);
  await verify(OTHER_NUMBER);
  await verify(OTHER_NUMBER);
  expect(paths()).toHaveLength(3);
});

test('refuses a number of another account before any request to it', async () => {
  rig.upstream.answers(LISTED);
  await expect(verify(OTHER)).rejects.toMatchObject({
    code: 'INVALID_FIELD',
    message: 'phone_number_id does not belong to the WABA',
    details: { field: 'phone_number_id' },
  });
  expect(paths()).toEqual([`/v26.0/${WABA}/phone_numbers`]);
});

test('does not cache a refusal', async () => {
  rig.upstream.answers(LISTED, { data: [{ id: OTHER }] }, OK);
  await expect(verify(OTHER)).rejects.toMatchObject({ code: 'INVALID_FIELD' });
  await verify(OTHER);
  expect(paths()).toHaveLength(3);
});

test('refuses an empty number id', async () => {
  rig.upstream.answers(LISTED);
  await expect(verify('')).rejects.toMatchObject({ code: 'INVALID_FIELD' });
});
