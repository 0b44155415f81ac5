import { endpoints } from '../endpoints';
import { remedyOf } from './guard';

test('every endpoint that takes a key has a remedy for an unknown outcome', () => {
  const remedies = endpoints
    .filter(({ idempotent }) => idempotent)
    .map(({ verb, path, rpc }) => [`${verb} ${path}`, remedyOf(rpc)]);
  expect(Object.fromEntries(remedies)).toEqual({
    'POST /messages/send': 'look_up',
    'POST /messages/template': 'look_up',
    'POST /messages/media': 'look_up',
    'POST /messages/interactive': 'look_up',
    'POST /messages/location': 'look_up',
    'POST /messages/contacts': 'look_up',
    'POST /messages/reaction': 'look_up',
    'POST /messages/read': 'repeat',
    'POST /media/upload': 'none',
    'POST /templates': 'none',
    'POST /broadcasts': 'repeat',
    'POST /calls': 'none',
    'POST /groups': 'none',
  });
});
