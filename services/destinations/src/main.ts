import { loadConfig } from '@bmg/common/config';
import { run } from '@bmg/common/lifecycle';
import { settings } from './config';
import { createDestinations } from './service';

run(() => createDestinations(loadConfig(settings, process.env)));
