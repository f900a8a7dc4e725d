import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCli, startCli, type CliResult } from '../cli/run-cli.ts';
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
      id: 'bells',
      verdict: 'ask',
      tools: ['desk.ring'],
      ask: { title: 'Ring the bell', severity: 'info', timeoutMs: 4000 },
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
  /** Replaces the desk's own policy. */
  readonly policy?: object;
}

/** A real `sallyport dev` with tools that need approvals, and a console login to use its API with. */
export interface DeskPlane {
  readonly url: string;
  /** The value of the console's cookie. */
  readonly cookie: string;
  cli(...args: string[]): Promise<CliResult>;
  /** The path of a file in the folder where the process runs. */
  file(name: string): string;
  get(path: string): Promise<Record<string, unknown>>;
  send(method: string, path: string, body: object): Promise<Record<string, unknown>>;
  /** Allows the first question of this call, as the console would. */
  allow(callId: string): Promise<void>;
  /** Makes a call and does not wait for it; resolves with its id. */
  call(tool: string, args: object, by?: Asker): Promise<string>;
  /** Makes a call that needs an approval; resolves with its id when the question exists. */
  ask(tool: string, args: object, by?: Asker): Promise<string>;
  cancel(callId: string): Promise<void>;
  /** The arguments that tools really ran with. */
  ran(): readonly { readonly tool: string; readonly args: unknown }[];
  untilSettled(callId: string): Promise<{ readonly kind: string; readonly text: string }>;
  /** Kills the process with SIGKILL, unless another signal is given. */
  crash(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts the process again, on the same port. */
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
  const url = `http://127.0.0.1:${port}`;
  const start = async (): Promise<WatchedProcess> => {
    const args = ['dev', '--modules', file('modules.json'), '--http-port', String(port)];
    const started = await startCli(args, { cwd: folder.path });
    await started.waitForLine(/^Ctrl-C ends it/);
    return started;
  };
  let dev = await start();
  const code = /\/login#(\S+)/.exec(dev.stdout)?.[1] ?? '';
  const cookie = await signIn(url, code);
  const api = apiOf(url, cookie);

  const bearers = new Map<string, Promise<string>>();
  const bearerOf = ({ agent = 'support', subject = 'lena' }: Asker = {}): Promise<string> => {
    const name = `${agent} ${subject}`;
    const opened =
      bearers.get(name) ??
      api('POST', '/v1/tokens', { name, scopes: ['agent'], identity: { agent, subject } }).then((one) =>
        String(one['text']),
      );
    bearers.set(name, opened);
    return opened;
  };
  const call = async (tool: string, args: object, by?: Asker): Promise<string> => {
    const body = { tool, arguments: args, waitMs: 0 };
    const answer = await apiOf(url, undefined, await bearerOf(by))('POST', '/v1/calls', body);
    return String(answer['callId']);
  };
  const detailOf = (callId: string): Promise<Record<string, unknown>> => api('GET', `/v1/calls/${callId}`);
  const until = async (callId: string, state: string): Promise<Record<string, unknown>> => {
    let detail: Record<string, unknown> = {};
    await eventually(
      async () => {
        detail = await detailOf(callId);
        return (detail['call'] as { state: string }).state === state;
      },
      { what: `${callId} ${state}` },
    );
    return detail;
  };
  return {
    url,
    cookie,
    cli: (...args) => runCli(args, { cwd: folder.path }),
    file,
    get: (path) => api('GET', path),
    send: api,
    call,
    async ask(tool, args, by) {
      const callId = await call(tool, args, by);
      await until(callId, 'parked');
      return callId;
    },
    async allow(callId) {
      const { approvals } = (await detailOf(callId)) as { approvals: { id: string; binding: string }[] };
      const [{ id, binding } = { id: '', binding: '' }] = approvals;
      await api('POST', `/v1/approvals/${id}/decide`, { decision: 'allow-once', binding });
    },
    cancel: async (callId) => void (await api('POST', `/v1/calls/${callId}/cancel`, {})),
    ran: () =>
      existsSync(file('ran.log'))
        ? readFileSync(file('ran.log'), 'utf8')
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as { tool: string; args: unknown })
        : [],
    async untilSettled(callId) {
      const { outcome } = (await until(callId, 'settled')) as { outcome: { kind: string } };
      return { kind: outcome.kind, text: JSON.stringify(outcome) };
    },
    async crash(signal = 'SIGKILL') {
      dev.kill(signal);
      await dev.exited;
    },
    async restart() {
      dev = await start();
    },
    async stop() {
      await dev.stop();
      folder.remove();
    },
  };
}

const consoleHeaders = (url: string): Record<string, string> => ({
  'content-type': 'application/json',
  'sallyport-console': '1',
  origin: url,
});

/** Signs in with the code of a login link; resolves with the value of the console's cookie. */
export async function signIn(url: string, code: string): Promise<string> {
  const answer = await fetch(`${url}/v1/login`, {
    method: 'POST',
    headers: consoleHeaders(url),
    body: JSON.stringify({ code }),
  });
  const cookie = /^__Host-sallyport=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  if (cookie === undefined) throw new Error(`No login: ${answer.status} ${await answer.text()}`);
  return cookie;
}

type Api = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

function apiOf(url: string, cookie: string | undefined, bearer?: string): Api {
  const proof = bearer === undefined ? { cookie: `__Host-sallyport=${cookie}` } : { authorization: `Bearer ${bearer}` };
  return async (method, path, body) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...(bearer === undefined ? consoleHeaders(url) : { 'content-type': 'application/json' }), ...proof },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
}
