// Provides the project's own Node on a machine whose Node is too old: `node deploy/node/path.js`
// prints the PATH to use. This file runs on that old Node.
const { execFileSync, spawn } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const { constants } = require('os');
const path = require('path');

const ROOT = path.resolve(__dirname, '../..');
/** undici needs it. */
const FLOOR = '22.19';
const DOWNLOAD_LIMIT_MS = 10 * 60 * 1000;
/** A download that was killed leaves its folder behind; no living one is as old as this. */
const ABANDONED_MS = 2 * DOWNLOAD_LIMIT_MS;
const TEMPORARY = 'download-';

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  const [floorMajor, floorMinor] = FLOOR.split('.').map(Number);
  return major > floorMajor || (major === floorMajor && minor >= floorMinor);
}

/**
 * Returns the folder of a Node that is new enough, and installs it if it is missing. Returns
 * undefined if the Node that runs this is new enough.
 */
function findNode({
  root = ROOT,
  running = process.versions.node,
  platform = `${process.platform}-${process.arch}`,
  packages = require('./packages.json'),
} = {}) {
  if (isNewEnough(running)) return undefined;
  const wanted = packages[platform];
  if (!wanted) {
    throw new Error(`no package with a newer Node for ${platform}: install Node ${FLOOR} or newer`);
  }
  const folder = path.join(root, '.node');
  const installed = path.join(folder, `${wanted.name}-${wanted.version}`);
  if (!fs.existsSync(installed)) {
    install({ wanted, folder, installed, root });
    console.error(
      `Node ${running} is older than ${FLOOR}: installed Node ${wanted.version} into .node/`,
    );
  }
  return path.join(installed, 'bin');
}

/**
 * Downloads into a temporary folder, so that an interrupted or parallel call never leaves half a
 * Node.
 */
function install({ wanted, folder, installed, root }) {
  fs.mkdirSync(folder, { recursive: true });
  removeAbandoned(folder);
  const temporary = fs.mkdtempSync(path.join(folder, TEMPORARY));
  try {
    unpack(download(wanted, temporary, root), temporary);
    const made = path.join(temporary, 'package');
    checkVersion(path.join(made, 'bin/node'), wanted);
    moveTo(installed, made);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

/** Returns the file of the package, after a check of its hash. npm knows the registry. */
function download({ name, version, integrity }, temporary, root) {
  const spec = `${name}@${version}`;
  const options = ['--ignore-scripts', '--silent', '--pack-destination', temporary];
  attempt(`npm could not download ${spec}`, 'npm', ['pack', spec, ...options], { cwd: root });
  const file = path.join(temporary, `${name}-${version}.tgz`);
  const found = `sha512-${createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`;
  if (found !== integrity) {
    throw new Error(
      `${spec} has the hash ${found}, but deploy/node/packages.json has ${integrity}`,
    );
  }
  return file;
}

function unpack(file, folder) {
  const wanted = ['package/bin/node', 'package/LICENSE'];
  const args = ['-xzf', file, '-C', folder, ...wanted];
  attempt(`tar could not unpack ${path.basename(file)}`, 'tar', args);
}

/** A C library that is too old for this Node shows here. */
function checkVersion(node, { name, version }) {
  const found = attempt(`${name}@${version} does not run on this machine`, node, ['--version']);
  if (found.trim() !== `v${version}`) throw new Error(`${name}@${version} is Node ${found.trim()}`);
}

/** A parallel call may have installed it first; its folder is as good as this one. */
function moveTo(installed, made) {
  try {
    fs.renameSync(made, installed);
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes(error.code)) throw error;
  }
}

function removeAbandoned(folder) {
  for (const name of fs.readdirSync(folder)) {
    const place = path.join(folder, name);
    // A parallel call may remove its own at any time.
    const { mtimeMs = Infinity } = fs.statSync(place, { throwIfNoEntry: false }) || {};
    if (name.startsWith(TEMPORARY) && Date.now() - mtimeMs > ABANDONED_MS) {
      fs.rmSync(place, { recursive: true, force: true });
    }
  }
}

/** Returns the output of a command, and throws an error that begins with `failure`. */
function attempt(failure, command, args, options) {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: DOWNLOAD_LIMIT_MS,
      ...options,
    });
  } catch (error) {
    const cause = (error.stderr || error.message).trim().split('\n').slice(-5).join('\n');
    throw new Error(`${failure}: ${cause}`);
  }
}

/** Returns PATH with the folder of the right Node first. */
const pathOf = (folder) => [folder, process.env.PATH].filter(Boolean).join(path.delimiter);

/** Runs the program of this process again, under the project's Node, and ends as it ends. */
function runAgain(folder = findOrExit()) {
  const child = spawn(path.join(folder, 'node'), [...process.execArgv, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, PATH: pathOf(folder) },
  });
  // A terminal signals the child itself; this process waits for its end.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : code;
  });
}

function findOrExit() {
  try {
    return findNode();
  } catch (error) {
    console.error(
      `Node ${FLOOR} or newer is needed, this is ${process.version}, and the project could not ` +
        `install its own.\n${error.message}`,
    );
    return process.exit(1);
  }
}

module.exports = { findNode, runAgain };

if (require.main === module) console.log(pathOf(findOrExit()));
