import { describe, expect, it } from 'vitest';
import { findMixedScripts, KnownNames, skeletonOf } from './name-rules.ts';

describe('words of several alphabets', () => {
  it.each([
    ['a Cyrillic а in Latin', 'use pаypal here', 'pаypal'],
    ['a Greek ο in Latin', 'gοogle', 'gοogle'],
    ['an Armenian ս in Latin', 'sսm', 'sսm'],
    ['a Cherokee letter in Latin', 'Ꭺdmin', 'Ꭺdmin'],
    ['Latin in Cyrillic', 'привет мiр', 'мiр'],
    ['Greek in Cyrillic', 'мирο', 'мирο'],
  ])('%s is found', (_, text, word) => {
    expect(findMixedScripts(text)).toBe(word);
  });

  it.each([
    'Привет, world',
    'API を使う',
    'API调用',
    'µm and μm',
    'Δx = 2πr',
    'naïve Ω',
    'α-release',
    'Ελληνικά',
    'read_file',
  ])('%s is usual', (text) => {
    expect(findMixedScripts(text)).toBeUndefined();
  });
});

describe('the names of other servers', () => {
  const known = new KnownNames([
    { id: 'files', names: ['read_file', 'search', 'listAll', 'paypal', 'b64'] },
    { id: 'git', names: ['git.log'] },
  ]);
  const mention = (text: string, own: string[] = []): string | undefined => {
    const found = known.findMention(text, new Set(own));
    return found === undefined ? undefined : `${found.id} ${found.name}`;
  };

  it.each([
    ['Then call read_file.', 'files read_file'],
    ['Then call `READ_FILE`', 'files read_file'],
    ['use files.read_file now', 'files read_file'],
    ['use mcp__files__read_file now', 'files read_file'],
    ['listAll', 'files listall'],
    ['run git.log first', 'git git.log'],
  ])('%s names one', (text, expected) => {
    expect(mention(text)).toBe(expected);
  });

  it.each(['Search for files.', 'read the file', 'read_files', 'a paypal account', ''])('"%s" names none', (text) => {
    expect(mention(text)).toBeUndefined();
  });

  it('are not meant if the server has a tool with that name itself', () => {
    expect(mention('Then call read_file.', ['read_file'])).toBeUndefined();
  });

  it('are looked for by how a name is read', () => {
    expect(known.findLookAlike('rеad_file')).toStrictEqual({ name: 'read_file', id: 'files' });
    expect(known.findLookAlike('read-file')).toMatchObject({ name: 'read_file' });
    expect(known.findLookAlike('paypaI')).toMatchObject({ name: 'paypal' });
    expect(known.findLookAlike('read_file')).toBeUndefined();
    expect(known.findLookAlike('read_files')).toBeUndefined();
  });

  it('are compared in bounded length', () => {
    expect(skeletonOf(`a${'\u0301\u0323'.repeat(50_000)}`).length).toBeLessThanOrEqual(128);
  });
});
