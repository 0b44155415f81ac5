import { findService, readLogs } from './advice';

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
