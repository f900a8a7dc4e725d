// `node check-health.mjs ready`: ends with 0 if the worker or gateway of this container takes calls, otherwise with 1 and the reason.
// `node check-health.mjs live`: ends with 0 if the process answers at all. For platforms that restart what is unhealthy: a restart does not
// bring back a Redis that is away, and interrupts calls under way. Another process than 1 is named by its id, as the last argument.
import { readFileSync } from 'node:fs';

const PATHS = { ready: '/readyz', live: '/healthz' };
const PORTS = {
  worker: process.env.SALLYPORT_WORKER_HEALTH_PORT,
  gateway: process.env.SALLYPORT_GATEWAY_HEALTH_PORT,
};
const TIMEOUT_MS = 4000;

/** The process is Sallyport itself, or an init process that has its command line as arguments. */
function roleOf(commandLine) {
  const words = commandLine.split('\0');
  const main = words.findIndex((word) => word.endsWith('/dist/cli/main.js') || word.endsWith('/bin/sallyport'));
  return main === -1 ? undefined : words.slice(main + 1).find((word) => Object.hasOwn(PORTS, word));
}

function commandLineOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function check(path, pid) {
  const role = roleOf(commandLineOf(pid));
  if (role === undefined) return `Process ${pid} is neither a worker nor a gateway.`;
  try {
    const answer = await fetch(`http://127.0.0.1:${PORTS[role]}${path}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = (await answer.text()).trim();
    console.log(`${role}: ${text}`);
    return answer.ok ? undefined : `${role}: HTTP ${answer.status}`;
  } catch (error) {
    return `${role}: no answer on port ${PORTS[role]} (${error.cause?.code ?? error.name})`;
  }
}

const [, , question, pid = '1'] = process.argv;
const isUsed = Object.hasOwn(PATHS, question ?? '') && /^\d+$/.test(pid);
const problem = isUsed ? await check(PATHS[question], pid) : 'Usage: node check-health.mjs ready|live [PID]';
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 1;
}
