import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import notes from '../../examples/modules/notes/index.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { PlatformReply, PlatformRequest } from '../../src/domain/ports/tool-runner.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { refusalOf, runExample, valueOf, type ExampleRun } from './run-example.ts';

let folder: TemporaryFolder;
let file: string;

beforeEach(() => {
  folder = temporaryFolder('notes');
  file = join(folder.path, 'deep', 'notes.sqlite');
});
afterEach(() => folder.remove());

const run = (tool: string, args: JsonObject, options: ExampleRun = {}) =>
  runExample(notes, tool, args, { setup: { file }, ...options });
const add = (title: string, text = '', options: ExampleRun = {}) => valueOf(run('add', { title, text }, options));
const titles = async (tool: string, args: JsonObject, options: ExampleRun = {}) =>
  ((await valueOf(run(tool, args, options)))['notes'] as { title: string }[]).map(({ title }) => title);

describe('notes.add', () => {
  test('keeps the note in the file of the setup', async () => {
    const note = await valueOf(run('add', { title: ' Milk ', text: 'two litres', tags: ['shop'] }));
    expect(note).toMatchObject({ id: 1, title: 'Milk', text: 'two litres', tags: ['shop'] });
    expect(existsSync(file)).toBe(true);
    expect(await valueOf(run('read', { id: 1 }))).toEqual(note);
  });

  test('of the same call run twice makes one note and gives the same answer', async () => {
    const first = await add('once', 'text', { callId: 'same' });
    expect(await add('once', 'text', { callId: 'same' })).toEqual(first);
    expect(await titles('list', {})).toEqual(['once']);
  });

  test.each([
    { title: '', text: '' },
    { title: '  ', text: '' },
    { title: 'x'.repeat(201), text: '' },
    { title: 'x', text: 'y'.repeat(100_001) },
    { title: 'x', text: '', tags: Array.from({ length: 21 }, (_, index) => `t${index}`) },
    { text: 'no title' },
  ])('refuses wrong arguments %#', async (args) => {
    expect(await refusalOf(run('add', args))).toBe('invalid-arguments');
  });
});

describe('notes.search', () => {
  test('finds notes with all the words, from their beginning, without regard to case and accents', async () => {
    await add('Café plan', 'opening in May');
    await add('Budget', 'the planning costs');
    await add('Other', 'nothing here');
    expect((await titles('search', { query: 'PLAN' })).toSorted()).toEqual(['Budget', 'Café plan']);
    expect(await titles('search', { query: 'plan cafe' })).toEqual(['Café plan']);
    expect(await titles('search', { query: 'plan zebra' })).toEqual([]);
  });

  test('finds tags, and text of languages without spaces', async () => {
    await valueOf(run('add', { title: 'tagged', text: '', tags: ['urgent'] }));
    await add('日本語', '今日は東京へ行きます');
    expect(await titles('search', { query: 'urgent' })).toEqual(['tagged']);
    expect(await titles('search', { query: '東京' })).toEqual(['日本語']);
  });

  test.each([
    '"',
    'a AND',
    'NEAR(',
    '* OR 1',
    "'; DROP TABLE notes; --",
    'title:',
    '{',
    '^',
    '-',
    '(',
    'a->b',
    '%',
    '\\',
  ])('takes %j as words or as it stands, never as syntax', async (query) => {
    await add('plain', 'nothing to find');
    expect(await titles('search', { query })).toEqual([]);
    await add('quoted', `before ${query} after`);
    expect(await titles('search', { query })).toEqual(['quoted']);
  });

  test('follows edits and deletions', async () => {
    const { id } = await add('draft', 'oldword');
    await valueOf(run('edit', { id: id!, text: 'newword' }));
    expect(await titles('search', { query: 'oldword' })).toEqual([]);
    expect(await titles('search', { query: 'newword' })).toEqual(['draft']);
    await valueOf(run('delete', { id: id! }));
    expect(await titles('search', { query: 'newword' })).toEqual([]);
  });
});

describe('notes.list', () => {
  test('gives the newest first, page by page', async () => {
    for (const title of ['one', 'two', 'three']) await add(title);
    expect(await valueOf(run('list', { limit: 2 }))).toMatchObject({ more: true, notes: [{ id: 3 }, { id: 2 }] });
    expect(await valueOf(run('list', { limit: 2, beforeId: 2 }))).toMatchObject({
      more: false,
      notes: [{ title: 'one' }],
    });
  });
});

describe('notes.share', () => {
  const sent: PlatformRequest['body'][] = [];
  const onPlatform = async ({ body }: PlatformRequest): Promise<PlatformReply> => {
    sent.push(body);
    return { kind: 'delivered', key: 'call/1', answer: { messageId: 'm1' } };
  };
  beforeEach(() => sent.splice(0));

  test('sends a short note as a message, and a long one as a file', async () => {
    await add('Milk', 'two litres');
    await add('Long', 'x'.repeat(5000));
    expect(await valueOf(run('share', { id: 1 }, { onPlatform }))).toEqual({
      id: 1,
      state: 'delivered',
      messageId: 'm1',
    });
    await valueOf(run('share', { id: 2 }, { onPlatform }));
    expect(sent).toMatchObject([
      { kind: 'send', message: { text: 'Milk\n\ntwo litres' } },
      { kind: 'file', file: { name: 'Long.txt', mediaType: 'text/plain' } },
    ]);
  });

  test('reports a missing channel, and sends no note of another subject', async () => {
    await add('Milk');
    expect(await refusalOf(run('share', { id: 1 }))).toBe('failed PLATFORM_NONE');
    expect(await refusalOf(run('share', { id: 1 }, { onPlatform, subject: 'bob' }))).toBe('failed NOTE_NOT_FOUND');
    expect(sent).toEqual([]);
  });
});

describe('notes.edit and notes.delete', () => {
  test('edit changes what is given and keeps the rest', async () => {
    const { id } = await valueOf(run('add', { title: 'a', text: 'b', tags: ['c'] }));
    expect(await valueOf(run('edit', { id: id!, tags: [] }))).toMatchObject({ title: 'a', text: 'b', tags: [] });
    expect(await valueOf(run('edit', { id: id!, text: '' }))).toMatchObject({ title: 'a', text: '', tags: [] });
  });

  test('edit and read of a missing note fail with a code', async () => {
    expect(await refusalOf(run('edit', { id: 7, text: 'x' }))).toBe('failed NOTE_NOT_FOUND');
    expect(await refusalOf(run('read', { id: 7 }))).toBe('failed NOTE_NOT_FOUND');
  });

  test('delete a second time is no failure', async () => {
    const { id } = await add('gone');
    expect(await valueOf(run('delete', { id: id! }))).toEqual({ id, existed: true });
    expect(await valueOf(run('delete', { id: id! }))).toEqual({ id, existed: false });
  });
});

describe('notes of two subjects', () => {
  test('are never seen, changed or deleted by each other', async () => {
    const { id } = await add('secret of ada', 'word');
    const bob = { subject: 'bob' };
    expect(await titles('list', {}, bob)).toEqual([]);
    expect(await titles('search', { query: 'word' }, bob)).toEqual([]);
    expect(await titles('search', { query: 'of ada' }, bob)).toEqual([]);
    expect(await refusalOf(run('read', { id: id! }, bob))).toBe('failed NOTE_NOT_FOUND');
    expect(await refusalOf(run('edit', { id: id!, text: 'stolen' }, bob))).toBe('failed NOTE_NOT_FOUND');
    expect(await valueOf(run('delete', { id: id! }, bob))).toEqual({ id, existed: false });
    expect(await valueOf(run('read', { id: id! }))).toMatchObject({ text: 'word' });
  });

  test('may come from the same call id without meeting', async () => {
    await add('of ada', '', { callId: 'shared' });
    expect(await add('of bob', '', { callId: 'shared', subject: 'bob' })).toMatchObject({ title: 'of bob' });
  });
});

describe('the notes file', () => {
  test('of a later version is left alone', async () => {
    await add('kept');
    const database = new DatabaseSync(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(await run('list', {})).toMatchObject({ kind: 'threw', cause: expect.stringContaining('version 99') });
  });

  test('that was taken away is made anew instead of written to in the dark', async () => {
    await add('old');
    folder.remove();
    await add('new');
    expect(await titles('list', {})).toEqual(['new']);
  });
});
