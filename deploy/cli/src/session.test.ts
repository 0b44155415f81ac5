import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { ApiError, fromServiceError } from '@bmg/common/errors';
import { explain, rejected, UsageError } from './session';

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

test('explains why a service does not allow the command line to call it', () => {
  const details = 'fanout may not call bmg.onboarding.v1.Operator/ListPartners';
  const refused: ServiceError = Object.assign(new Error(`7 PERMISSION_DENIED: ${details}`), {
    code: status.PERMISSION_DENIED,
    details,
    metadata: new Metadata(),
  });
  expect(explain(fromServiceError(refused))).toBe(details);
  expect(explain(new ApiError('NOT_FOUND', 'no such partner'))).toBe('no such partner');
});
