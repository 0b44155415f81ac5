import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createFanout } from './service';

run(() => createFanout(loadConfig(settings, process.env)));
