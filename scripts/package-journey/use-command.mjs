// Serves README's tool with `sallyport dev`, calls it, and fetches the console as a browser would.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOP } from '../top.mjs';

/** The `ts` block of README that defines a module. It is valid JavaScript too. */
export function readmeModule() {
  const blocks = readFileSync(join(TOP, 'README.md'), 'utf8').matchAll(/```ts\n([^]*?)```/g);
  return [...blocks].map(([, code]) => code).find((code) => code.includes('defineModule('));
}

export async function useCommand({ node, project, env }) {
  mkdirSync(join(project, 'my-modules'));
  writeFileSync(join(project, 'my-modules/dice.mjs'), readmeModule());
  const command = join(project, 'node_modules/sallyport/dist/cli/main.js');
  const folder = join(project, 'data');
  const options = { cwd: project, env: { ...env, SALLYPORT_GATEWAY_HTTP_PORT: '0' } };
  const flags = ['dev', '--modules', 'my-modules', '--folder', folder, '--json', '--log-level', 'error'];
  const dev = spawn(node, [command, ...flags], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(dev, 'exit');
  try {
    const { url, modules, broken } = await announcementOf(dev, exited);
    if (!modules.includes('dice')) throw new Error(`dice was not loaded: ${JSON.stringify(broken)}`);
    const answer = execFileSync(node, [command, 'call', 'dice.roll', '{"sides": 20}', '--folder', folder, '--json'], {
      ...options,
      encoding: 'utf8',
    });
    const rolled = /"rolled":\s*(\d+)/.exec(answer)?.[1];
    if (rolled === undefined) throw new Error(`dice.roll answered ${answer}`);
    return { rolled, consoleFiles: await fetchConsole(url) };
  } finally {
    dev.kill('SIGTERM');
    await exited;
  }
}

/** Resolves with the object that `dev --json` prints when it is ready; it spans several lines. */
async function announcementOf(child, exited) {
  let printed = '';
  child.stdout.setEncoding('utf8');
  const ready = new Promise((resolve) =>
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      if (/^\}$/m.test(printed)) resolve(JSON.parse(printed));
    }),
  );
  const ended = exited.then(([code]) => Promise.reject(new Error(`sallyport dev ended with ${code}`)));
  return Promise.race([ready, ended]);
}

/** Fetches the console's page and every script and style that it names; returns the number of files. */
async function fetchConsole(url) {
  const page = await fetchText(`${url}/console/`);
  const files = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path);
  if (files.length === 0) throw new Error(`the console's page names no files:\n${page}`);
  for (const file of files) await fetchText(`${url}${file}`);
  return files.length + 1;
}

async function fetchText(address) {
  const response = await fetch(address);
  const text = await response.text();
  if (!response.ok || text === '') throw new Error(`${address} answered ${response.status}: ${text}`);
  return text;
}
