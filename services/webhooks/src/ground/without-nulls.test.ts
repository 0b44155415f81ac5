import { withoutNulls } from './without-nulls';

test('leaves out what is null, and keeps what is empty', () => {
  expect(withoutNulls({ http_status: null, error: '', count: 0, at: undefined })).toStrictEqual({
    error: '',
    count: 0,
    at: undefined,
  });
});
