// Generous, so that a busy machine does not fail a test that an idle one passes; a hanging test
// still fails. A file sets a limit of its own only above it.
jest.setTimeout(300_000);
