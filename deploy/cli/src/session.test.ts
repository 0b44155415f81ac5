import { ApiError } from '@bmg/common/errors';
import { rejected, UsageError } from './session';

test('a value that a service rejects is a wrong argument', () => {
  const error = new ApiError('INVALID_FIELD', 'webhook_url is not a URL');
  expect(() => rejected(error)).toThrow(new UsageError('webhook_url is not a URL'));
  expect(() => rejected(error)).toThrow(UsageError);
});

test('leaves any other failure unchanged', () => {
  const error = new ApiError('NOT_FOUND', 'there is no partner ptn_x');
  expect(() => rejected(error)).toThrow(error);
  expect(() => rejected(error)).not.toThrow(UsageError);
});
