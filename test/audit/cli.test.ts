import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/stores/sqlite/database.ts';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { jsonOf, startCli } from '../cli/run-cli.ts';
import { eventually } from '../support/process.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { wrongClock } from '../support/wrong-clock.ts';

interface Shown {
  readonly event: string;
  readonly outcome?: string;
  readonly callId: string;
  readonly tool: string;
  readonly sequence: number;
  readonly executed?: string;
}

const list = async (plane: PlaneFolder, ...args: string[]): Promise<Shown[]> =>
  jsonOf(await plane.cli(...args, '--json')) as unknown as Shown[];

afterAll(failOnLeaks);

describe('sallyport audit beside a running dev', () => {
  let plane: PlaneFolder;
  let dev: WatchedProcess;
  beforeAll(async () => {
    plane = planeFolder();
    dev = await plane.start('dev', [], { SALLYPORT_AUDIT_SIGN_EVERY_MS: '100' });
    await plane.call('basic.echo', { text: 'one' });
    await plane.call('basic.echo', { text: 2 });
    await plane.call('basic.privileged', {});
  });
  afterAll(async () => {
    await dev.stop();
    plane.remove();
  });

  it('tail and query show who, what and how it ended', async () => {
    const { stdout, code } = await plane.cli('audit', 'tail');
    expect(code).toBe(0);
    expect(stdout).toMatch(/TIME +EVENT +ENDED/);
    expect(stdout).toMatch(/call\.settled +ok +basic\.echo +\S+ +local/);
    const all = await list(plane, 'audit', 'query', '--event', 'call.settled');
    expect(all.map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['basic.echo', 'ok'],
      ['basic.echo', 'invalid'],
      ['basic.privileged', 'denied'],
    ]);
    expect(all[2]).toMatchObject({ executed: 'no', code: 'PERMISSION_DENIED', subject: 'local' });
  });

  it('query takes filters, and refuses what it does not know', async () => {
    const all = await list(plane, 'audit', 'query', '--event', 'call.settled');
    expect(await list(plane, 'audit', 'query', '--outcome', 'not-ok')).toEqual(all.slice(1));
    expect(await list(plane, 'audit', 'query', '--call', all[1]!.callId)).toEqual([all[1]]);
    expect(await list(plane, 'audit', 'query', '--tool', 'basic.privileged', '--subject', 'local')).toEqual([all[2]]);
    expect(await list(plane, 'audit', 'query', '--from', '1h', '--limit', '1')).toEqual([all[2]]);
    expect(await list(plane, 'audit', 'query', '--to', '2020-01-01')).toEqual([]);
    for (const wrong of [
      ['--outcome', 'fine'],
      ['--from', 'yesterday'],
      ['--event', 'x'],
    ]) {
      expect((await plane.cli('audit', 'query', ...wrong)).code).toBe(2);
    }
  });

  it('tail --follow shows what is to come', async () => {
    const tail = await plane.startWaiting('audit', 'tail', '--follow', '--json', '--limit', '1');
    await tail.waitForLine(/"basic.privileged"/);
    await plane.call('basic.echo', { text: 'followed' });
    const line = await tail.waitForLine(/followed/);
    expect(JSON.parse(line)).toMatchObject({ record: { tool: 'basic.echo', outcome: 'ok' } });
    await tail.stop();
  });

  it('tail --follow shows what is to come, however long it has been running', async () => {
    const until = plane.file('two days later');
    const env = wrongClock(2 * 24 * 3_600_000, until);
    const tail = await startCli(['audit', 'tail', '--follow', '--tool', 'basic.progress'], { cwd: plane.path, env });
    // `tail` prints its heading after it has read the clock for the first time. Only then may the clock jump forward.
    await tail.waitForLine(/^TIME +EVENT/);
    writeFileSync(until, '');
    await plane.call('basic.progress', {});
    expect(await tail.waitForLine(/basic\.progress/)).toContain('call.settled');
    await tail.stop();
  });

  it('verify passes, and export writes one line per record, as it was chained', async () => {
    await eventually(
      async () => {
        const { lanes } = jsonOf(await plane.cli('audit', 'verify', '--json')) as {
          lanes: { signed: number; last: number }[];
        };
        return lanes[0]!.signed === lanes[0]!.last;
      },
      { what: 'a signed head' },
    );
    const verified = await plane.cli('audit', 'verify');
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('all in order') });
    expect((await plane.cli('audit', 'export', '--output', 'out.jsonl')).code).toBe(0);
    expect(statSync(plane.file('out.jsonl')).mode & 0o777).toBe(0o600);
    const lines = readFileSync(plane.file('out.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { record: Shown }).record.sequence)).toEqual(
      lines.map((_, index) => index + 1),
    );
    expect(await plane.cli('audit', 'export', '--output', 'out.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^sallyport: out\.jsonl exists already, and is not overwritten\./),
    });
    expect((await plane.cli('audit', 'export', '--output', 'out.jsonl/x')).code).toBe(69);
    const piped = await plane.cli('audit', 'export', '--outcome', 'denied');
    expect(piped.stdout.trim().split('\n')).toHaveLength(1);
  });

  it('rotate-key and erase leave a trail that verifies', async () => {
    const { key, before } = await plane.json('audit', 'rotate-key');
    expect(key).not.toBe(before);
    expect((await plane.cli('audit', 'erase', '--subject', 'local')).code).toBe(2);
    expect(await plane.json('audit', 'erase', '--subject', 'local', '--yes')).toMatchObject({ subject: 'local' });
    expect((await plane.cli('audit', 'verify')).code).toBe(0);
    const erased = await list(plane, 'audit', 'query', '--limit', '1');
    expect(erased).toMatchObject([{ erased: true, subject: 'local' }]);
  });

  it('verify names the first bad record and ends with 1; an open key ends with 77', async () => {
    await dev.stop();
    const file = new Database(plane.file('.sallyport/store.sqlite'), 1000);
    const { sequence } = file.get<{ sequence: number }>(
      `SELECT sequence FROM auditRecord WHERE record LIKE '%"outcome":"invalid"%'`,
    )!;
    file.execute(`UPDATE auditRecord SET record = replace(record, 'invalid', 'invalix') WHERE sequence = ${sequence}`);
    file.close();
    const verified = await plane.cli('audit', 'verify');
    expect(verified).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(new RegExp(`^Record ${sequence} of lane 0 .*changed`)),
    });
    expect(jsonOf(await plane.cli('audit', 'verify', '--json'))).toMatchObject({
      valid: false,
      problem: { sequence },
    });
    chmodSync(plane.file('.sallyport/audit-keys/signing.pem'), 0o644);
    expect((await plane.cli('audit', 'erase', '--subject', 'local', '--yes')).code).toBe(77);
  });
});

describe('sallyport gateway', () => {
  let redis: RedisServer;
  let postgres: PostgresServer;
  let plane: PlaneFolder;
  beforeAll(async () => {
    redis = await startRedis();
    postgres = await startPostgres();
    plane = planeFolder([], {
      SALLYPORT_STORE: 'redis',
      SALLYPORT_REDIS_URL: redis.url,
      SALLYPORT_AUDIT_SINK: 'postgres',
      SALLYPORT_AUDIT_POSTGRES_URL: postgres.url.replace(/:[^:@/]+@/, '@'),
      SALLYPORT_AUDIT_POSTGRES_PASSWORD_FILE: 'password',
    });
    writeFileSync(plane.file('password'), /:([^:@/]+)@/.exec(postgres.url)![1]!, { mode: 0o600 });
    writeFileSync(
      plane.file('open.json'),
      '{"permissions":{"*":{"allow":["*"]},"basic.privileged":{"allow":["local"]}}}',
    );
  });
  afterAll(async () => {
    plane.remove();
    await postgres.stop();
    await redis.stop();
  });

  const startGateway = async (): Promise<WatchedProcess> => {
    const gateway = await plane.startWaiting('gateway', '--http-port', '0');
    await gateway.waitForLine(/^Health: /);
    return gateway;
  };
  const auditCheck = async () => {
    const { checks } = jsonOf(await plane.cli('doctor', '--json')) as { checks: { name: string }[] };
    return checks.filter(({ name }) => name === 'audit');
  };

  it('drains what workers have written; doctor, verify and SIGTERM report it', async () => {
    const worker = await plane.start('worker');
    await plane.cli('policy', 'set', 'open.json');
    expect((await plane.call('basic.echo', { text: 'x' })).code).toBe(0);
    expect(await auditCheck()).toMatchObject([{ state: 'warn', fix: 'sallyport gateway' }]);
    const gateway = await startGateway();
    expect(gateway.stdout).toMatch(/drains 1 lane to postgres/);
    await eventually(async () => (await list(plane, 'audit', 'tail', '--event', 'call.settled')).length === 1, {
      what: 'the record',
    });
    expect(await auditCheck()).toMatchObject([{ state: 'ok' }]);
    expect((await plane.call('basic.privileged', {})).code).toBe(0);
    expect((await gateway.stop()).code).toBe(0);
    expect(gateway.stderr).toContain('drained');
    const all = (await list(plane, 'audit', 'query')).filter(({ callId }) => callId !== undefined);
    expect(all.map(({ event, tool }) => [event, tool])).toEqual([
      ['call.settled', 'basic.echo'],
      ['call.intended', 'basic.privileged'],
      ['call.settled', 'basic.privileged'],
    ]);
    expect(await plane.cli('audit', 'verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('6 records') });
    expect(await redis.cli('LLEN', '{sallyport:0}:journal')).toBe('0');
    const { statement } = (await plane.json('audit', 'verify')) as { statement: { number: number; hash: string } };
    expect(await redis.cli('HGET', '{sallyport}:statements', 'hash')).toBe(statement.hash);
    // The store keeps a mark too, for the case that the file with the mark next to the keys is gone.
    rmSync(plane.file('.sallyport/audit-keys/last-statement.json'));
    await postgres.query('CREATE TABLE sallyport.saved AS SELECT * FROM sallyport.audit_statement');
    await postgres.query('DELETE FROM sallyport.audit_statement WHERE number > 1');
    expect(await plane.cli('audit', 'verify')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(`and the store knows statement ${statement.number}`),
    });
    await postgres.query(
      `INSERT INTO sallyport.audit_statement (number, text, key_id, signature)
       SELECT number, text, key_id, signature FROM sallyport.saved WHERE number > 1`,
    );
    expect((await plane.cli('audit', 'verify')).code).toBe(0);
    await worker.stop();
  });

  it('stops at a loss and is led on by accept-gap, which verify names with what was appended by hand', async () => {
    const worker = await plane.start('worker');
    const journal = '{sallyport:0}:journal';
    expect((await plane.call('basic.echo', { text: 'lost' })).code).toBe(0);
    await redis.cli('DEL', journal);
    await redis.cli('RPUSH', journal, 'by', 'hand');
    expect(await plane.cli('audit', 'verify')).toMatchObject({ code: 0 });
    const gateway = await startGateway();
    const isStopped = async () => (await auditCheck()).some((check) => JSON.stringify(check).includes('accept-gap'));
    await eventually(isStopped, { what: 'an alarm' });
    const lost = await plane.cli('audit', 'verify');
    expect(lost).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^Record 6 of lane 0 .* 2 records that the lane has counted/),
    });
    const accept = (...args: string[]) =>
      plane.cli('audit', 'accept-gap', '--lane', '0', '--reason', 'ticket 8', ...args);
    expect(await accept()).toMatchObject({ code: 2, stderr: expect.stringContaining('Records 6 to 7 of lane 0') });
    expect((await plane.cli('audit', 'accept-gap', '--lane', '9', '--reason', 'x', '--yes')).code).toBe(2);
    expect((await plane.cli('audit', 'accept-gap', '--lane', '0', '--reason', ' ', '--yes')).code).toBe(2);
    expect(await accept('--yes', '--as', 'operator:ann')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Records 6 to 7 of lane 0 are given up'),
    });
    await eventually(async () => !(await isStopped()), { what: 'a drain that goes on' });
    expect(await accept('--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No drain misses records'),
    });
    expect((await plane.call('basic.echo', { text: 'after' })).code).toBe(0);
    expect((await gateway.stop()).code).toBe(0);
    const { code, stdout } = await plane.cli('audit', 'verify');
    expect(code).toBe(0);
    expect(stdout).toContain('8 records in 2 lanes');
    expect(stdout).toMatch(
      /lane 0: records 6 to 7 were lost; operator:ann \(account \S+\) went on without them on \S+: ticket 8/,
    );
    expect(stdout).toMatch(/lane 0, behind record 5: a role has appended 2 entries that are no records \(6 bytes\)/);
    await worker.stop();
  });

  it('verify ends with 1 when records are missing in the sink', async () => {
    await postgres.query('DELETE FROM sallyport.audit_payload; DELETE FROM sallyport.audit_record WHERE sequence = 2');
    const broken = await plane.cli('audit', 'verify');
    expect(broken.code).toBe(1);
  });

  it('is refused without a sink, and says on an embedded store that there is nothing to drain', async () => {
    const alone = planeFolder([], { SALLYPORT_STORE: 'redis', SALLYPORT_REDIS_URL: redis.url });
    const refused = await alone.cli('gateway');
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('audit.sink') });
    expect((await alone.cli('audit', 'tail')).code).toBe(78);
    alone.remove();
    const own = planeFolder();
    const gateway = await own.startWaiting('gateway', '--http-port', '0');
    await gateway.waitForLine(/nothing to drain: this store keeps its audit itself/);
    expect((await gateway.stop()).code).toBe(0);
    own.remove();
  });
});
