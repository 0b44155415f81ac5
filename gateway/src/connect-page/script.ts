// The script of the hosted page, served as one file. Strings, so that no build step has to copy it. It
// starts the platform's dialog inside the click, keeps the two halves of its answer in whatever order they
// come, has the code exchanged at once (it lives for seconds) and tells the opener what became of it.
import { DIALOG_PART } from './script-dialog';
import { PAGE_PART } from './script-page';

export const CONNECT_SCRIPT = `(function () {
  'use strict';

${PAGE_PART}
${DIALOG_PART}})();
`;
