import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { ApiError, fromServiceError } from '@bmg/common/errors';
import { explain, findService, readLogs, rejected, UsageError } from './session';

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

test('points to the files and commands of make up on a machine', () => {
  expect(readLogs({})).toMatch(/\.run\/<name>\.log/);
  expect(findService('ONBOARDING_ADDR', {})).toBe(
    'start the mesh (make up), or set ONBOARDING_ADDR to its address',
  );
});

test('points to kubectl in a pod', () => {
  const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  for (const advice of [readLogs(pod), findService('ONBOARDING_ADDR', pod)]) {
    expect(advice).toMatch(/kubectl logs/);
    expect(advice).not.toMatch(/make up|\.run/);
  }
});
