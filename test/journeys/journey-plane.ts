import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { jsonOf, type CliResult } from '../cli/run-cli.ts';
import { DESK, signIn, startDesk } from '../console/desk-plane.ts';
import { startGatewayFixture } from '../gateway/gateway-fixture.ts';
import { temporaryFolder } from '../support/process.ts';

const HOUR_MS = 3_600_000;
/** The timeout of refunds: long enough for a client to get the question first, on a busy machine too. */
const SOON_MS = 4000;

/** An approver has an hour to decide about a mail, and seconds to decide about a refund. */
const POLICY = {
  permissions: { '*': { allow: ['*'] } },
  unmatched: 'allow',
  rules: [
    { id: 'mails', verdict: 'ask', tools: ['desk.mail'], reason: 'A person looks first.', ask: { timeoutMs: HOUR_MS } },
    { id: 'refunds', verdict: 'ask', tools: ['desk.refund'], reason: 'Money leaves.', ask: { timeoutMs: SOON_MS } },
  ],
};

export interface JourneyPlane {
  readonly url: string;
  /** The cookie of a user who opened the console with a login link. */
  readonly cookie: string;
  cli(...args: string[]): Promise<CliResult>;
  /** What the tools really ran with: each line as the tool wrote it. */
  ran(): readonly string[];
  /** Ends the process that serves HTTP. With `dev` that process is also the worker. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts the process that serves HTTP again, on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const PLANES = {
  'worker and gateway on Redis': startOnRedis,
  'dev on the embedded store': startDev,
} as const;

async function startOnRedis(): Promise<JourneyPlane> {
  const place = temporaryFolder('sallyport journey');
  const manifest = `${place.path}/modules.json`;
  writeFileSync(manifest, JSON.stringify({ modules: [{ file: DESK }] }));
  const fixture = await startGatewayFixture({ store: 'redis', modules: manifest });
  const { folder, url } = fixture;
  writeFileSync(folder.file('policy.json'), JSON.stringify(POLICY));
  const set = await folder.cli('policy', 'set', 'policy.json');
  if (set.code !== 0) throw new Error(set.stderr);
  const made = await folder.cli('gateway', 'login-link', '--url', url, '--json');
  const { link } = jsonOf(made) as { link: string };
  return {
    url,
    cookie: await signIn(url, link.slice(link.indexOf('#') + 1)),
    cli: (...args) => folder.cli(...args),
    ran: () => linesOf(folder.file('ran.log')),
    async end(signal) {
      fixture.gateway.kill(signal);
      await fixture.gateway.exited;
    },
    start: () => fixture.restart(),
    async stop() {
      await fixture.stop();
      place.remove();
    },
  };
}

async function startDev(): Promise<JourneyPlane> {
  const desk = await startDesk({ policy: POLICY });
  return {
    url: desk.url,
    cookie: desk.cookie,
    cli: (...args) => desk.cli(...args),
    ran: () => linesOf(desk.file('ran.log')),
    end: (signal) => desk.crash(signal),
    start: () => desk.restart(),
    stop: () => desk.stop(),
  };
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}
