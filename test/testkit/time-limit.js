// Generous, so that a busy machine does not fail a test that an idle one passes; a hanging test
// still fails.
jest.setTimeout(90_000);
