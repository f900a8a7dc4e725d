import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/operate/open-store.ts';
import type { Identity } from '../../src/domain/identity/session.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { MAIN, startCli } from '../cli/run-cli.ts';
import { OPEN_POLICY } from '../plane/support/stage-plane.ts';
import { temporaryFolder } from '../support/process.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { MCP_MODULES } from './stage-mcp.ts';

/** A whole plane as users start it: `sallyport dev`, with its gateway. */
export interface DevPlane {
  readonly folder: string;
  readonly url: string;
  readonly store: Store;
  /** A token of an agent, made as `sallyport tokens create` makes it. */
  token(identity?: Partial<Identity>): Promise<{ readonly id: string; readonly text: string }>;
  setPolicy(policy: Partial<Policy>): Promise<void>;
  /** Ends the process and starts another one on the same store and port. `meanwhile`: while no process has the store open. */
  restart(signal?: 'SIGTERM' | 'SIGKILL', meanwhile?: (file: string) => void): Promise<void>;
  stop(): Promise<void>;
}

export { MAIN };

export async function startDevPlane(gateway: object = {}, modules = MCP_MODULES): Promise<DevPlane> {
  const folder = temporaryFolder('sallyport-mcp');
  const { path } = folder;
  const config = { gateway: { health: { enabled: false }, ...gateway }, worker: { modules } };
  writeFileSync(join(path, 'sallyport.json'), JSON.stringify(config));
  const start = async (port: string): Promise<{ child: WatchedProcess; url: string }> => {
    const child = await startCli(['dev', '--http-port', port], { cwd: path });
    const line = await child.waitForLine(/ http:\/\/\S+\/mcp/);
    return { child, url: /http:\/\/[^/\s]+/.exec(line)![0] };
  };
  let running = await start('0');
  const connectStore = (): Promise<Store> =>
    openStore({ store: 'embedded', folder: join(path, '.sallyport'), mode: 'connect' });
  let store = await connectStore();
  const setPolicy = async (more: Partial<Policy>): Promise<void> => {
    const { version } = await store.readPolicy();
    const written = await store.writePolicy({ expectedVersion: version, policy: { ...OPEN_POLICY, ...more } });
    if (written.kind !== 'written') throw new Error('the policy was changed by somebody else');
  };
  await setPolicy({});
  const { url } = running;
  return {
    folder: path,
    url: `${url}/mcp`,
    get store() {
      return store;
    },
    setPolicy,
    async token(identity = {}) {
      const made = newTokenText();
      const full = { tenant: 'default', subject: 'alice', agent: 'main', ...identity };
      const token = { id: made.id, name: 'test', scopes: ['agent' as const], identity: full };
      await store.createToken({ token, secretDigest: made.secretDigest, lifetimeMs: 3_600_000 });
      return { id: made.id, text: made.text };
    },
    async restart(signal = 'SIGTERM', meanwhile) {
      await store.close();
      if (signal === 'SIGKILL') running.child.kill(signal);
      await (signal === 'SIGKILL' ? running.child.exited : running.child.stop());
      meanwhile?.(join(path, '.sallyport', 'store.sqlite'));
      running = await start(new URL(url).port);
      store = await connectStore();
    },
    async stop() {
      await store.close();
      await running.child.stop();
      folder.remove();
    },
  };
}
