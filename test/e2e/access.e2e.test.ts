// Access rules over HTTP: partner keys, response headers and the rate limit.
import { useMesh, usePartner } from './use-mesh';

const mesh = useMesh();
const partner = usePartner(mesh);

describe('a partner key', () => {
  test.each([
    ['suspended', 403, 'PARTNER_SUSPENDED'],
    ['subscription_cancelled', 402, 'SUBSCRIPTION_CANCELLED'],
    ['trial_expired', 402, 'TRIAL_EXPIRED'],
  ])(
    'of a partner in status %s is refused with %i %s, and works again once the partner is active',
    async (status, http, code) => {
      const paused = await mesh.createPartner();
      const { partner_id } = paused;
      expect((await paused.call('GET', '/clients')).status).toBe(200);
      const turn = (to: string) =>
        mesh.operator.updatePartner({ partner_id, status: to }, mesh.call());
      await turn(status);
      const refused = await paused.call('GET', '/clients');
      expect([refused.status, refused.body.error.code]).toEqual([http, code]);
      await turn('active');
      expect((await paused.call('GET', '/clients')).status).toBe(200);
    },
  );
});

describe('every response', () => {
  test('carries notices, a request ID and a trace', async () => {
    for (const path of ['/health', '/clients', '/nothing-here']) {
      const { headers } = await partner.call('GET', path);
      expect(headers.get('x-service-api-version')).toBe('2.9.2');
      expect(headers.get('x-service-release')).toMatch(/^\d+\.\d+\.\d+$/);
      expect(headers.get('x-service-changelog')).toMatch(/\/changelog$/);
      expect(headers.get('x-service-notice-level')).toBe('action_required');
      expect(headers.get('x-service-notice')?.split(',')).toHaveLength(2);
      expect(headers.get('x-request-id')).toMatch(/^[\w.:-]{1,128}$/);
      expect(headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    }
  });

  test('keeps a well-formed request ID and trace of the caller and replaces a malformed ID', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const wellFormed = await partner.call('GET', '/clients', undefined, {
      'x-request-id': 'order-4711',
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    });
    expect(wellFormed.headers.get('x-request-id')).toBe('order-4711');
    expect(wellFormed.headers.get('traceparent')).toContain(trace);
    const malformed = await partner.call('GET', '/nothing-here', undefined, {
      'x-request-id': '<script>',
    });
    expect(malformed.headers.get('x-request-id')).not.toBe('<script>');
    expect(malformed.body.error.request_id).toBe(malformed.headers.get('x-request-id'));
  });
});

describe('the rate limit', () => {
  test('refuses requests above the partner’s rate with Retry-After, and admits them a second later', async () => {
    const limited = await mesh.createPartner({ rate_limit_per_sec: 5 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => limited.call('GET', '/clients')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(5);
    for (const { body, headers } of refused) {
      expect(body.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryable: true });
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(headers.get('ratelimit-limit')).toBe('5');
      expect(headers.get('ratelimit-remaining')).toBe('0');
    }
    // The test needs the refill after a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await limited.call('GET', '/clients')).status).toBe(200);
  });
});
