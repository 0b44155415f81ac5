import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createWebhooks } from './service';

run(() => createWebhooks(loadConfig(settings, process.env)));
