import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createNumberAdmin } from './service';

run(() => createNumberAdmin(loadConfig(settings, process.env)));
