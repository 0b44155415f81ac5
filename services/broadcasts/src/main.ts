import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createBroadcasts } from './service';

run(() => createBroadcasts(loadConfig(settings, process.env)));
