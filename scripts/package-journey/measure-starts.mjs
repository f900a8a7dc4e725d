// Measures the CPU time of the commands that users start, in milliseconds: the minimum of a few runs, with a filled cache of compiled code.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const RUNS = 6;
/** Preloaded code that writes the CPU time to file descriptor 3, because standard output belongs to the program. */
const REPORT =
  'data:text/javascript,import{writeSync}from"node:fs";process.on("exit",()=>{const{user,system}=process.cpuUsage();writeSync(3,String(user+system))})';

export function measureStarts({ node, project, env }) {
  const command = join(project, 'node_modules/sallyport/dist/cli/main.js');
  const load = (path) => ['--input-type=module', '-e', `await import('${path}')`];
  return {
    '--help ms': leastOf(node, project, env, [command, '--help']),
    'call --help ms': leastOf(node, project, env, [command, 'call', '--help']),
    'worker --help ms': leastOf(node, project, env, [command, 'worker', '--help']),
    'client ms': leastOf(node, project, env, load('sallyport/client')),
  };
}

function leastOf(node, cwd, env, args) {
  const times = Array.from({ length: RUNS }, () => {
    const stdio = ['ignore', 'ignore', 'pipe', 'pipe'];
    const { status, output } = spawnSync(node, ['--import', REPORT, ...args], { cwd, env, stdio, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${output[2]}`);
    return Number(output[3]) / 1000;
  });
  return Math.round(Math.min(...times));
}
