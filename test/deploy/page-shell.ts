import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../cli/run-cli.ts';
import { codeBlocks, readPages, TOP } from '../docs/pages.ts';
import { reapAfterExit } from '../support/reaper.ts';

/**
 * Runs the commands of a page as they are written, below an empty folder. What is replaced, and nothing else:
 *
 * - `/etc/…`, `/opt/…` and `/var/lib/…` lie below the folder; `/usr/bin/sallyport` is this build.
 * - Ports are free ones.
 * - `systemctl` is systemctl.mjs, which starts what the unit files say. `chown` does nothing: there may be no user `redis`.
 * - `deploy/` is a copy of this repository's, with the same replacements.
 * - A `sallyport worker` of a page is stopped with SIGTERM once it is ready, where a reader would press Ctrl-C.
 */
export interface PageShell {
  readonly root: string;
  /** Runs one block; rejects with everything it printed if a command in it fails. What it exports is there for the next one. */
  run(block: string): Promise<string>;
  /** What has been logged by a unit. */
  logOf(unit: string): string;
  pidOf(unit: string): number;
  place(path: string): string;
}

const STAND_INS: Readonly<Record<string, string>> = {
  sallyport: `#!/bin/bash
if [ "$JOURNEY_PAGE" = 1 ] && [ "$1" = worker ]; then exec "$NODE" "$HERE/until-ready.mjs" "$NODE" "$MAIN" "$@"; fi
exec "$NODE" "$MAIN" "$@"\n`,
  systemctl: `#!/bin/bash\nexec "$NODE" "$HERE/systemctl.mjs" "$@"\n`,
  chown: `#!/bin/bash\nexit 0\n`,
};

const BLOCK_MS = 90_000;

/** The shell blocks of a page, each with the heading above it. */
export function shellBlocks(path: string): { readonly heading: string; readonly text: string }[] {
  const page = readPages().find((candidate) => candidate.path === path)!;
  return codeBlocks(page)
    .filter(({ language }) => language === 'sh')
    .map(({ place, text }) => {
      const above = page.text.split('\n').slice(0, Number(place.split(':')[1]));
      return { heading: above.findLast((line) => /^#+ /.test(line))!.replace(/^#+ /, ''), text };
    });
}

export function createPageShell(root: string, ports: Readonly<Record<string, number>>): PageShell {
  const place = (path: string): string => join(root, path);
  const replace = (text: string): string =>
    text
      .replaceAll(/(?<![\w.}])\/(?=(?:etc|opt|var\/lib)\/)/g, `${root}/`)
      .replaceAll('/usr/bin/sallyport', place('bin/sallyport'))
      .replaceAll(/\b\d{4}\b/g, (port) => String(ports[port] ?? port));
  for (const folder of ['bin', 'work', 'etc/systemd/system', 'run']) mkdirSync(place(folder), { recursive: true });
  const here = fileURLToPath(new URL('./', import.meta.url));
  const constants = { JOURNEY_ROOT: root, HERE: here, MAIN, NODE: process.execPath };
  const assignments = Object.entries(constants).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  for (const [name, text] of Object.entries(STAND_INS)) {
    const [shebang, ...lines] = text.split('\n');
    writeFileSync(place(`bin/${name}`), [shebang, `export ${assignments.join(' ')}`, ...lines].join('\n'));
    chmodSync(place(`bin/${name}`), 0o755);
  }
  cpSync(join(TOP, 'deploy'), place('work/deploy'), { recursive: true });
  for (const name of readdirSync(place('work/deploy'), { recursive: true, encoding: 'utf8' })) {
    const file = place(`work/deploy/${name}`);
    if (/\.(?:yaml|conf|service)$/.test(name)) writeFileSync(file, replace(readFileSync(file, 'utf8')));
  }
  const watched = new Map<number, () => void>();

  /** Processes that a block has started must not outlive the test. */
  function watchUnits(): void {
    const files = readdirSync(place('run')).filter((file) => file.endsWith('.pid'));
    const running = new Map(files.map((file) => [Number(readFileSync(place(`run/${file}`), 'utf8')), file]));
    for (const [pid, what] of running) if (!watched.has(pid)) watched.set(pid, reapAfterExit({ pid, what }));
    for (const [pid, release] of watched) if (!running.has(pid)) release();
  }

  return {
    root,
    place,
    async run(block) {
      const exported = place('run/exported.sh');
      const before = existsSync(exported) ? `source ${exported}` : '';
      const script = `set -eo pipefail\n${before}\n${replace(block)}\nexport -p > ${exported}\n`;
      const env = { PATH: `${place('bin')}:${process.env['PATH']}`, HOME: root, LANG: 'C.UTF-8', JOURNEY_PAGE: '1' };
      const printed = await runBash(script, place('work'), env);
      watchUnits();
      if (printed.code === 0) return printed.text;
      throw new Error(`It ended with ${printed.code}:\n${replace(block)}\n${printed.text}`);
    },
    logOf: (unit) => readFileSync(place(`run/${unit}.log`), 'utf8'),
    pidOf: (unit) => Number(readFileSync(place(`run/${unit}.pid`), 'utf8')),
  };
}

function runBash(
  script: string,
  cwd: string,
  env: Record<string, string>,
): Promise<{ readonly code: number | null; readonly text: string }> {
  return new Promise((resolve, reject) => {
    mkdirSync(dirname(cwd), { recursive: true });
    const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: BLOCK_MS });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.once('error', reject);
    // Not `close`: a unit that goes on in the background may still hold a pipe.
    child.once('exit', (code) => resolve({ code, text }));
  });
}
