// Prints what a change does to the rendered examples of the chart: `make helm-diff BASE=<ref>`
// renders them from that commit and from this checkout. Helm is the one that `make helm-check` has
// built.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const EXAMPLES = ['minimal', 'trial', 'production'];
const KUBE_VERSION = '1.31.0';
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

const [base] = process.argv.slice(2);
if (!base) fail('name the commit to compare with: make helm-diff BASE=main');
const helm = builtHelm() ?? fail('helm is not built: run make helm-check first');
const dir = mkdtempSync(join(tmpdir(), 'bmg-helm-diff-'));
try {
  mkdirSync(join(dir, 'chart'));
  const archive = execFileSync('git', ['archive', base, 'helm'], { maxBuffer: OUTPUT_MAX_BYTES });
  execFileSync('tar', ['-x', '-C', join(dir, 'chart')], { input: archive });
  render(join(dir, 'chart/helm'), 'before');
  render('helm', 'after');
  const { stdout } = spawnSync('git', ['diff', '--no-index', '--no-color', 'before', 'after'], {
    cwd: dir,
    encoding: 'utf8',
    maxBuffer: OUTPUT_MAX_BYTES,
  });
  process.stdout.write(stdout === '' ? 'The rendered examples are the same.\n' : stdout);
} finally {
  rmSync(dir, { recursive: true });
}

/** Certificates are new in each rendering, so they are left out. */
function render(chart, folder) {
  mkdirSync(join(dir, folder));
  for (const name of EXAMPLES) {
    const values = join(chart, 'examples', `${name}.yaml`);
    const namespace = ['--namespace', 'messaging', '--kube-version', KUBE_VERSION];
    const text = execFileSync(helm, ['template', 'bmg', chart, ...namespace, '--values', values], {
      encoding: 'utf8',
      maxBuffer: OUTPUT_MAX_BYTES,
    });
    const stable = text.replace(/^( {2}(?:tls\.crt|tls\.key|ca\.crt): ).+$/gm, '$1made by helm');
    writeFileSync(join(dir, folder, `${name}.yaml`), stable);
  }
}

function builtHelm() {
  const tools = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'bmg-chart-tools');
  const built = existsSync(tools) ? readdirSync(tools) : [];
  const name = built.filter((one) => /^helm-v[\d.]+$/.test(one)).at(-1);
  return name && join(tools, name);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
