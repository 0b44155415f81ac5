import { unserved } from './traffic';

type Sends = Parameters<typeof unserved>[0];

const ok = { partner: 'steady', outcome: 'ok', answer: '200' } as const;

test('finds nothing when every request was accepted', () => {
  expect(unserved([ok, ok], [{ status: 200 }])).toEqual({ refused: [], cut_off: 0 });
});

test('counts refusals by their answer, of sends and of webhooks', () => {
  const sends: Sends = [
    ok,
    { partner: 'steady', outcome: 'fail', answer: '503 SERVICE_UNAVAILABLE' },
    { partner: 'puller', outcome: 'fail', answer: '503 SERVICE_UNAVAILABLE' },
  ];
  expect(unserved(sends, [{ status: 500 }]).refused).toEqual([
    'refused: 2 × 503 SERVICE_UNAVAILABLE',
    'refused: 1 × webhook 500',
  ]);
});

test('counts requests without an answer apart', () => {
  const sends: Sends = [{ partner: 'steady', outcome: 'info', answer: 'no answer' }];
  expect(unserved(sends, [{ status: 0 }])).toEqual({ refused: [], cut_off: 2 });
});

test('expects refusals of partners that rotate keys and delete clients, and of a key in use', () => {
  const sends: Sends = [
    { partner: 'rotating', outcome: 'fail', answer: '401 INVALID_KEY' },
    { partner: 'leaving', outcome: 'fail', answer: '404 CLIENT_NOT_FOUND' },
    { partner: 'steady', outcome: 'info', answer: '409 IDEMPOTENCY_KEY_IN_USE' },
  ];
  expect(unserved(sends, [])).toEqual({ refused: [], cut_off: 0 });
});
