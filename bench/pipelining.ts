// Measures the memory of a gateway, and how fast it answers a caller, while other sockets send many requests ahead and read no answers.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { explainUsage } from './harness/explain-usage.ts';
import { ownChild, ownFolder } from './harness/left-behind.ts';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';

const USAGE = 'npm run bench -- pipelining [--seconds 10] [--main dist/cli/main.js]';
const { values } = explainUsage(USAGE, () =>
  parseArgs({
    options: {
      seconds: { type: 'string', default: '10' },
      main: { type: 'string', default: fileURLToPath(new URL('../cli/main.js', import.meta.url)) },
    },
  }),
);
const seconds = Number(values.seconds);
if (!(seconds >= 1 && seconds <= 600)) {
  console.error(USAGE);
  process.exit(2);
}
const MODULES = fileURLToPath(new URL('./round-trip/modules', import.meta.url));
const GIVE_UP_MS = 5000;
const EVERY_MS = 50;

/**
 * The number of attacking sockets, and of requests that each sends ahead; the first row is without an attack. The buffers of the operating
 * system hold only a few megabytes of unread answers, so further answers would have to wait in the gateway.
 */
const ATTACKS = [
  { sockets: 0, requests: 0 },
  { sockets: 260, requests: 60 },
  { sockets: 260, requests: 160 },
  { sockets: 60, requests: 1000 },
];

interface Gateway {
  readonly child: ChildProcess;
  readonly port: number;
  readonly token: string;
  stop(): Promise<void>;
}

async function start(): Promise<Gateway> {
  const folder = ownFolder();
  writeFileSync(join(folder, 'sallyport.json'), JSON.stringify({ log: { level: 'error' } }));
  const args = [values.main, 'dev', '--modules', MODULES, '--http-port', '0'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  ownChild(child);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    child.stdout.resume();
    const create = ['tokens', 'create', 'bench', '--scope', 'operator', '--out', 'token'];
    await promisify(execFile)(process.execPath, [values.main, ...create], { cwd: folder });
    return {
      child,
      port: Number(port),
      token: readFileSync(join(folder, 'token'), 'utf8').trim(),
      async stop() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }
  throw new Error('the gateway did not start');
}

const residentMiB = ({ child }: Gateway): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024;

/** Milliseconds until a caller with a token was answered on its own socket. Undefined if it was not answered with 200. */
function ask({ port, token }: Gateway): Promise<number | undefined> {
  const began = performance.now();
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    const asked = request({ port, host: '127.0.0.1', path: '/v1/me', headers, agent: false }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200 ? performance.now() - began : undefined));
      response.once('error', () => resolve(undefined));
    });
    asked.setTimeout(GIVE_UP_MS, () => asked.destroy());
    asked.once('error', () => resolve(undefined));
    asked.end();
  });
}

async function attack({ port }: Gateway, sockets: number, requests: number): Promise<Socket[]> {
  const page = await (await fetch(`http://127.0.0.1:${port}/console/`)).text();
  const asset = /src="(\/[^"]+\.js)"/.exec(page)?.[1] ?? '/console/';
  const text = `GET ${asset} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(requests);
  return Array.from({ length: sockets }, () => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(text));
    return socket.on('error', () => undefined).pause();
  });
}

async function measure({ sockets, requests }: (typeof ATTACKS)[number]): Promise<string[]> {
  const gateway = await start();
  for (let warm = 0; warm < 20; warm += 1) await ask(gateway);
  const before = residentMiB(gateway);
  const opened = await attack(gateway, sockets, requests);
  const until = performance.now() + seconds * 1000;
  const times: (number | undefined)[] = [];
  let most = before;
  while (performance.now() < until) {
    times.push(await ask(gateway));
    most = Math.max(most, residentMiB(gateway));
    await pause(EVERY_MS);
  }
  for (const socket of opened) socket.destroy();
  await pause(2000);
  const after = residentMiB(gateway);
  await gateway.stop();
  const answered = times.filter((time) => time !== undefined);
  return [
    sockets === 0 ? 'no attack' : `${sockets} sockets, ${requests} requests each`,
    `${answered.length} of ${times.length}`,
    shown(median(answered), 1),
    shown(Math.max(...answered), 1),
    shown(before),
    shown(most),
    shown(after),
  ];
}

const rows: string[][] = [];
for (const each of ATTACKS) rows.push(await measure(each));
console.log(
  formatTable(['attack', 'callers answered', 'median ms', 'most ms', 'MiB before', 'MiB at most', 'MiB after'], rows),
);
