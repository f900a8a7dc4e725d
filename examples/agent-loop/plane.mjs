// A whole plane in a process of its own, as `npx sallyport dev` starts it: store, worker, tools and policy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from 'sallyport/client';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const packageFile = fileURLToPath(import.meta.resolve('sallyport/package.json'));
const { bin } = JSON.parse(readFileSync(packageFile, 'utf8'));
const program = join(packageFile, '..', bin.sallyport);

export async function startPlane() {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-agent-'));
  const flags = [
    '--folder',
    folder,
    '--modules',
    here('modules'),
    '--policy',
    here('policy.yaml'),
    '--json',
    '--log-level',
    'error',
  ];
  const dev = spawn(process.execPath, [program, 'dev', ...flags], {
    env: { ...process.env, SALLYPORT_GATEWAY_HTTP_ENABLED: 'false' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(dev, 'exit');
  const ready = Promise.race([once(dev.stdout, 'data'), exited.then(() => Promise.reject(new Error('dev ended')))]);
  const stop = async () => {
    dev.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return { connect: () => connect({ store: 'embedded', folder, mode: 'connect' }), stop };
}
