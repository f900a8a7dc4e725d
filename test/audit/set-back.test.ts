import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { failOnLeaks } from '../support/reaper.ts';

const FILE = '.sallyport/store.sqlite';
const GONE =
  /^The trail ends at statement \d+, and the folder of the keys knows statement \d+: an older copy was put back/;
const ACCEPT = ['audit', 'accept-rollback', '--yes', '--reason'];

/** A store that was started twice. Neither the backup nor the copied file has what the second start added to the trail. */
let plane: PlaneFolder;
beforeAll(async () => {
  plane = planeFolder();
  const first = await plane.start('dev');
  await plane.call('basic.echo', { text: 'one' });
  await plane.cli('store', 'backup', 'backups/monday');
  await first.stop();
  copyFileSync(plane.file(FILE), plane.file('yesterday.sqlite'));
  const second = await plane.start('dev');
  await plane.call('basic.echo', { text: 'two' });
  await second.stop();
});
afterAll(() => {
  plane.remove();
  failOnLeaks();
});

it("yesterday's store file under today's keys is noticed by verify, doctor and dev, until an operator has signed for it", async () => {
  const today = await plane.cli('audit', 'verify', '--json');
  expect(JSON.parse(today.stdout)).toMatchObject({ valid: true, records: 7, statement: { number: 4 } });
  writeFileSync(plane.file('exported.json'), today.stdout);

  copyFileSync(plane.file('yesterday.sqlite'), plane.file(FILE));
  expect(await plane.cli('audit', 'verify')).toMatchObject({ code: 1, stdout: expect.stringMatching(GONE) });
  const { checks } = await plane.json('doctor');
  expect(checks).toContainEqual(expect.objectContaining({ name: 'audit', state: 'bad' }));
  const dev = await plane.start('dev');
  await plane.call('basic.echo', { text: 'three' });
  await dev.stop();
  expect(dev.stderr).toContain('Nothing is signed, because statements of the audit are gone');
  expect(await plane.cli('audit', 'verify')).toMatchObject({ code: 1, stdout: expect.stringMatching(GONE) });

  const unsure = await plane.cli('audit', 'accept-rollback', '--reason', 'x');
  expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  const accepted = await plane.cli(...ACCEPT, 'the disk died');
  expect(accepted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Statement 5 follows statement 2/) });
  const verified = await plane.cli('audit', 'verify');
  expect(verified).toMatchObject({ code: 0, stderr: expect.stringContaining('up to 4: the disk died') });
  const expected = await plane.cli('audit', 'verify', '--expect', 'exported.json');
  expect(expected).toMatchObject({ code: 1, stdout: expect.stringContaining('was given up by 5') });
  expect((await plane.cli('audit', 'verify', '--expect', 'missing.json')).code).toBe(2);
  expect((await plane.cli(...ACCEPT, 'again')).stdout).toContain('Nothing to accept');
});

it('a backup that was restored and adopted is named by verify, goes on after accept-rollback, and chains what comes', async () => {
  rmSync(plane.file(FILE));
  expect((await plane.cli('store', 'restore', 'backups/monday')).code).toBe(0);
  expect((await plane.cli('store', 'adopt', '--yes')).code).toBe(0);
  expect(await plane.cli('audit', 'verify')).toMatchObject({ code: 1, stdout: expect.stringMatching(GONE) });
  expect((await plane.cli(...ACCEPT, 'monday is back')).code).toBe(0);
  const dev = await plane.start('dev');
  await plane.call('basic.echo', { text: 'four' });
  await dev.stop();
  const verified = await plane.cli('audit', 'verify');
  expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('7 records in 2 lanes') });
  expect(verified.stderr).toContain('monday is back');
});
