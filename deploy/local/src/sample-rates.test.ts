import { loadSampleRates } from './sample-rates';

test('a mesh whose rate card cannot be loaded gets a warning that says what to do', async () => {
  const settings = { EMULATOR_URL: 'http://127.0.0.1:9', MESSAGING_ADDR: '127.0.0.1:9' };
  expect(await loadSampleRates(settings)).toMatch(
    /^warning: the sample rate card was not loaded \(.+\)\. .*: npx bmg rates load deploy\/local\/sample-rates\.csv$/,
  );
});

test('a mesh with a real upstream gets no card', async () => {
  expect(await loadSampleRates({ MESSAGING_ADDR: '127.0.0.1:9' })).toBeUndefined();
});
