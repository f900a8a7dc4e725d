// Runs the MCP conformance suite against a real `sallyport dev` and writes docs/mcp-conformance.md.
//   npm run conformance [-- --revision 2026-07-28] [--scenario NAME] [--no-report]
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { ensureBuild, ensureNode24, ensureNodeModules, reportFailure } from './setup.mjs';
import { isStarted, TOP } from './top.mjs';

const REVISIONS = ['2026-07-28', '2025-11-25'];
const MAIN = join(TOP, 'dist', 'cli', 'main.js');
const MODULES = join(TOP, 'test', 'fixtures', 'everything');
const SUITE = join(TOP, 'tools', 'node24', 'node_modules', '@modelcontextprotocol', 'conformance');
const PATIENCE = join(TOP, 'scripts', 'conformance-patience.mjs');
/** The module that the suite tests. Its tools have the names that the suite calls, without the module id in front. */
const MODULE = 'everything';

/** Starts a separate `sallyport dev` in a temporary folder and creates a token for an agent. */
async function startPlane() {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-conformance-'));
  const config = {
    gateway: { mcp: { plainModule: MODULE, waitMs: 25_000, taskAfterMs: 200, sessionsPerBearer: 500 } },
    worker: { modules: MODULES },
    log: { level: 'error' },
  };
  writeFileSync(join(folder, 'sallyport.json'), JSON.stringify(config));
  // Loop detection is off: scenarios repeat the same call, and that is not a loop.
  const policy = { permissions: { '*': { allow: ['*'] } }, loops: { default: { enabled: false } } };
  writeFileSync(join(folder, 'policy.json'), JSON.stringify(policy));
  const args = [MAIN, 'dev', '--json', '--http-port', '0', '--policy', 'policy.json'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const told = await Promise.race([
    readJson(child.stdout),
    new Promise((_, reject) => child.once('exit', (code) => reject(new Error(`sallyport dev ended with ${code}`)))),
  ]);
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { ...(await openTo(folder, told)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves with the first JSON object that a program prints; it may span several lines. */
function readJson(stream) {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
      if (/^}$/m.test(text)) resolve(JSON.parse(text.slice(0, text.search(/^}$/m) + 1)));
    });
  });
}

async function openTo(folder, { url, broken }) {
  if (broken.length > 0) throw new Error(`A module was not loaded: ${JSON.stringify(broken)}`);
  const who = ['--agent', 'suite', '--subject', 'tester', '--tenant', 'default'];
  const make = [MAIN, 'tokens', 'create', 'conformance', '--scope', 'agent', ...who, '--json'];
  const made = await run(process.execPath, make, { cwd: folder });
  if (made.code !== 0) throw new Error(`No token was made: ${made.output}`);
  return { url, token: JSON.parse(made.stdout).token };
}

/**
 * Starts a proxy in front of the gateway, because the suite sends no tokens: the proxy adds one. It replaces its own address in Host
 * and Origin by the gateway's. A foreign Host or Origin is passed on unchanged, so that the gateway still refuses it.
 */
async function startProxy({ url, token }) {
  const target = new URL(url);
  const server = createServer((incoming, outgoing) => {
    const { port } = server.address();
    const own = [`127.0.0.1:${port}`, `localhost:${port}`];
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    // Only the proxy's own address is replaced. Any other address stays as it is, even another one of this machine.
    if (own.includes(headers.host)) headers.host = target.host;
    if (own.some((each) => headers.origin === `http://${each}`)) headers.origin = target.origin;
    const options = { host: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers };
    const sent = forward(options, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function run(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('close', (code) => resolve({ code, output, stdout }));
  });
}

/** The scenarios that the revision requires of servers, and the optional ones that are run in addition. */
function scenariosOf(revision) {
  const { server, not_scored: others } = parse(readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'));
  const optional = others.filter(({ leg }) => leg === 'server');
  return [
    ...server.map((name) => ({ name, required: true })),
    ...optional.map(({ scenario, reason }) => ({ name: scenario, required: false, reason })),
  ];
}

/** Returns every check of every scenario, read from the suite's result files: they contain more than its exit code. */
async function runSuite({ node, conformance }, url, revision, scenario) {
  const results = mkdtempSync(join(tmpdir(), 'sallyport-results-'));
  try {
    const which =
      scenario === undefined ? ['--requirements', revision] : ['--scenario', scenario, '--spec-version', revision];
    const program = ['--import', PATIENCE, conformance];
    const { output } = await run(node, [...program, 'server', '--url', url, ...which, '-o', results]);
    const folders = readdirSync(results);
    const wanted = scenariosOf(revision).filter(({ name }) => scenario === undefined || name === scenario);
    return wanted.map(({ name, ...rest }) => {
      const folder = folders.find((each) => new RegExp(`^(server-)?${name}-\\d{4}-`).test(each));
      const checks = folder === undefined ? [] : JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8'));
      const failed = checks.filter(({ status }) => status === 'FAILURE');
      const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
      return { name, ...rest, revision, passed, failed, output };
    });
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}

/** A scenario without a passed check has proved nothing, so it is not good. */
const isGood = ({ passed, failed }) => failed.length === 0 && passed > 0;

function report(results) {
  const lines = [
    '# MCP conformance',
    '',
    'Written by `npm run conformance`: the official suite',
    `(\`@modelcontextprotocol/conformance\` ${suiteVersion()}) against a \`sallyport dev\` process with the module in`,
    '`test/fixtures/everything`, through the whole gateway: Host, Origin and token are checked, every call takes the whole data path.',
    'The suite sends no tokens, so a proxy between the two adds one. Where the suite names the address of the proxy in `Host` or',
    "`Origin`, the proxy puts the gateway's; any other name goes through as it is.",
    '',
  ];
  for (const revision of REVISIONS) {
    const own = results.filter((each) => each.revision === revision);
    if (own.length === 0) continue;
    const required = own.filter((each) => each.required);
    lines.push(
      `## ${revision}`,
      '',
      `${required.filter(isGood).length} of ${required.length} required scenarios pass.`,
      '',
    );
    lines.push('| scenario | required | checks passed | checks failed | |', '|---|---|---|---|---|');
    for (const each of own) {
      const verdict = isGood(each) ? 'passes' : '**fails**';
      const needed = each.required ? 'yes' : `no: ${each.reason}`;
      lines.push(`| ${each.name} | ${needed} | ${each.passed} | ${each.failed.length} | ${verdict} |`);
    }
    lines.push('');
  }
  const open = results.filter((each) => !isGood(each));
  if (open.length > 0) {
    lines.push('## What fails', '');
    for (const { name, revision, failed } of open)
      for (const { id, errorMessage } of failed)
        lines.push(
          `- ${revision} ${name}, \`${id}\`: ${String(errorMessage ?? '')
            .replaceAll('\n', ' ')
            .slice(0, 300)}`,
        );
    lines.push('');
  }
  return lines.join('\n');
}

function suiteVersion() {
  return JSON.parse(readFileSync(join(SUITE, 'package.json'), 'utf8')).version;
}

/** Returns all results; `onResult` gets each one as it arrives. */
export async function runConformance({ revisions = REVISIONS, scenario, onResult = () => undefined }) {
  const programs = await ensureNode24();
  const plane = await startPlane();
  const proxy = await startProxy(plane);
  const results = [];
  try {
    for (const revision of revisions) {
      for (const result of await runSuite(programs, proxy.url, revision, scenario)) {
        results.push(result);
        onResult({ ...result, good: isGood(result) });
      }
    }
  } finally {
    await proxy.stop();
    await plane.stop();
  }
  return results;
}

async function main() {
  const { values } = parseArgs({
    options: {
      revision: { type: 'string' },
      scenario: { type: 'string' },
      'no-report': { type: 'boolean' },
      verbose: { type: 'boolean' },
    },
  });
  await ensureNodeModules();
  await ensureBuild();
  const results = await runConformance({
    ...(values.revision === undefined ? {} : { revisions: [values.revision] }),
    scenario: values.scenario,
    onResult({ revision, name, required, passed, failed, good, output }) {
      const mark = good ? 'ok  ' : required ? 'FAIL' : 'fail';
      console.log(`${mark} ${revision} ${name}: ${passed} passed, ${failed.length} failed`);
      for (const { id, errorMessage } of failed) console.log(`       ${id}: ${errorMessage ?? ''}`);
      if (values.verbose) console.log(output);
    },
  });
  if (values['no-report'] !== true && values.scenario === undefined && values.revision === undefined)
    writeFileSync(join(TOP, 'docs', 'mcp-conformance.md'), report(results));
  const bad = results.filter((each) => each.required && !isGood(each));
  console.log(
    `${results.filter(isGood).length} of ${results.length} scenarios pass; required ones that do not: ${bad.length}`,
  );
  process.exitCode = bad.length === 0 ? 0 : 1;
}

if (isStarted(import.meta.url)) {
  try {
    await main();
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}
