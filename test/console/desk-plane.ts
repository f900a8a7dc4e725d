import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jsonOf, runCli, startCli, type CliResult } from '../cli/run-cli.ts';
import { eventually, freePort, temporaryFolder } from '../support/process.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

export const DESK = fileURLToPath(new URL('./modules/desk.mjs', import.meta.url));
const HOUR_MS = 3_600_000;

const POLICY = {
  permissions: { '*': { allow: ['*'] } },
  unmatched: 'allow',
  rules: [
    {
      id: 'mails-outside',
      verdict: 'ask',
      tools: ['desk.mail'],
      reason: 'Mails to people outside need a person.',
      ask: { title: 'Send a mail outside the company', severity: 'warning', timeoutMs: HOUR_MS },
    },
    {
      id: 'refunds',
      verdict: 'ask',
      tools: ['desk.refund'],
      reason: 'Money leaves the company.',
      ask: { title: 'Pay money back', severity: 'critical', timeoutMs: HOUR_MS },
    },
    {
      id: 'deployments',
      verdict: 'ask',
      tools: ['desk.deploy'],
      ask: { title: 'Run these steps', severity: 'info', timeoutMs: HOUR_MS },
    },
  ],
};

export interface Asker {
  readonly agent?: string;
  readonly subject?: string;
}

export interface DeskOptions {
  /** In place of the desk's own. */
  readonly policy?: object;
}

/** A real `sallyport dev` with tools that are asked about. */
export interface DeskPlane {
  readonly url: string;
  /** The link it printed when it last started. */
  readonly loginLink: string;
  cli(...args: string[]): Promise<CliResult>;
  /** In the folder it runs in. */
  file(name: string): string;
  /** Makes a call and does not wait for it; resolves with its id. */
  call(tool: string, args: object, by?: Asker): Promise<string>;
  /** The same for a tool that asks; resolves when the question is there. */
  ask(tool: string, args: object, by?: Asker): Promise<string>;
  /** What tools were really run with. */
  ran(): readonly { readonly tool: string; readonly args: unknown }[];
  untilSettled(callId: string): Promise<{ readonly kind: string; readonly text: string }>;
  /** Ends it (kill -9), and `restart` starts the same again on the same port. */
  crash(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDesk({ policy = POLICY }: DeskOptions = {}): Promise<DeskPlane> {
  const folder = temporaryFolder('sallyport console');
  const file = (name: string): string => join(folder.path, name);
  writeFileSync(file('modules.json'), JSON.stringify({ modules: [{ file: DESK }] }));
  writeFileSync(file('policy.yaml'), JSON.stringify(policy));
  writeFileSync(file('sallyport.yaml'), 'policyFile: policy.yaml\n');
  const port = await freePort();
  let dev: WatchedProcess;
  let loginLink = '';
  const cli = (...args: string[]): Promise<CliResult> => runCli(args, { cwd: folder.path });
  const start = async (): Promise<void> => {
    dev = await startCli(['dev', '--modules', file('modules.json'), '--http-port', String(port)], { cwd: folder.path });
    await dev.waitForLine(/^Ctrl-C ends it/, 30_000);
    loginLink = /http:\/\/127\.0\.0\.1:\d+\/login#\S+/.exec(dev.stdout)?.[0] ?? '';
  };
  await start();

  const call = async (
    tool: string,
    args: object,
    { agent = 'support', subject = 'lena' }: Asker = {},
  ): Promise<string> => {
    const who = ['--agent', agent, '--subject', subject];
    const answer = jsonOf(await cli('call', tool, JSON.stringify(args), '--detach', ...who, '--json'));
    return String(answer['callId'] ?? answer['id']);
  };
  const show = async (callId: string): Promise<Record<string, unknown>> =>
    jsonOf(await cli('calls', 'show', callId, '--json'));
  const until = (callId: string, state: string): Promise<unknown> =>
    eventually(async () => (await show(callId))['state'] === state, { timeoutMs: 20_000, what: `${callId} ${state}` });
  return {
    url: `http://127.0.0.1:${port}`,
    get loginLink() {
      return loginLink;
    },
    cli,
    file,
    call,
    async ask(tool, args, by) {
      const callId = await call(tool, args, by);
      await until(callId, 'parked');
      return callId;
    },
    ran: () =>
      existsSync(file('ran.log'))
        ? readFileSync(file('ran.log'), 'utf8')
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as { tool: string; args: unknown })
        : [],
    async untilSettled(callId) {
      await until(callId, 'settled');
      const { outcome } = (await show(callId)) as { outcome: { kind: string } };
      return { kind: outcome.kind, text: JSON.stringify(outcome) };
    },
    async crash(signal = 'SIGKILL') {
      dev.kill(signal);
      await dev.exited;
    },
    restart: start,
    async stop() {
      await dev.stop();
      folder.remove();
    },
  };
}
