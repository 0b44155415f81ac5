// The browser's part of every page of the documentation: the search, the menu of small screens, the
// code, and the reference.
import './menu';
import './reference';
import './search';
import { prepareCode } from './code';
import { prepareLive } from './live';

void prepareCode();
void prepareLive();
