import { chownSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { eventually, freePort, temporaryFolder } from './process.ts';
import { startProgram, type WatchedProcess } from './watched-process.ts';

export interface PostgresServer {
  readonly port: number;
  /** The address, including the password. */
  readonly url: string;
  /** Ends the server at once, as a crash would; connections break. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

const PASSWORD = 'only-for-tests';
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'max_connections=40',
  'shared_buffers=16MB',
  'log_min_messages=fatal',
];

/** Starts a real PostgreSQL on loopback with a data folder of its own. It is ready on return, and ends with the test process. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = temporaryFolder('sallyport-postgres');
  const bin = findPrograms();
  const user = unprivileged();
  if (user !== undefined) chownSync(folder.path, user.uid, user.gid);
  const data = join(folder.path, 'data');
  const passwordFile = join(folder.path, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (user !== undefined) chownSync(passwordFile, user.uid, user.gid);
  const initdb = await startProgram(
    join(bin, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'postgres',
      '--pwfile',
      passwordFile,
      '-A',
      'scram-sha-256',
      '-E',
      'UTF8',
      '--locale',
      'C',
      '-N',
    ],
    { user, cwd: folder.path },
  );
  const made = await initdb.exited;
  if (made.code !== 0) throw new Error(`initdb failed: ${initdb.stdout}${initdb.stderr}`);
  const port = await freePort();
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const settings = [...SETTINGS, `port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];

  async function start(): Promise<WatchedProcess> {
    const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
    const child = await startProgram(join(bin, 'postgres'), args, { user, cwd: folder.path });
    await eventually(
      async () => {
        if (child.exit !== undefined) throw new Error(`postgres ended at its start: ${child.stderr}`);
        return (await ask('SELECT 1')).length;
      },
      { everyMs: 50, what: 'postgres to answer' },
    );
    return child;
  }

  async function ask(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  let child = await start();
  // SIGINT: ends without waiting for clients. SIGQUIT: ends at once, with its children, as after a crash.
  async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    child.kill(signal);
    await child.exited;
  }
  return {
    port,
    url,
    query: ask,
    crash: () => end('SIGQUIT'),
    async restart() {
      await end('SIGINT');
      child = await start();
    },
    async stop() {
      await end('SIGINT');
      folder.remove();
    },
  };
}

function findPrograms(): string {
  const named = process.env['SALLYPORT_POSTGRES'];
  if (named !== undefined) return dirname(named);
  const versions = '/usr/lib/postgresql';
  const bins = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, 'bin')) : [];
  const found = [...bins, ...(process.env['PATH'] ?? '').split(':')].find((bin) => existsSync(join(bin, 'initdb')));
  if (found === undefined) throw new Error('There is no initdb. Install PostgreSQL: npm run setup');
  return found;
}

/** The user to run as, if the tests run as root: PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres', 'nobody'].map((name) => lines.find((each) => each.startsWith(`${name}:`))).find(Boolean);
  const [, , uid, gid] = line?.split(':') ?? [];
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) };
}
