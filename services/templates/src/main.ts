import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createTemplates } from './service';

run(() => createTemplates(loadConfig(settings, process.env)));
