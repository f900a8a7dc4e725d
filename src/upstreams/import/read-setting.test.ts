import { describe, expect, it } from 'vitest';
import { expandVariables, type VariableValues } from './expand-variables.ts';
import { readSetting } from './read-setting.ts';

const VALUES: VariableValues = {
  project: '/home/ann/shop',
  home: '/home/ann',
  inputs: [
    { id: 'key', description: 'API key', fallback: undefined },
    { id: 'region', description: undefined, fallback: 'eu' },
  ],
};

describe('expandVariables', () => {
  it('replaces what is known, and reports the rest', () => {
    expect(expandVariables('${workspaceFolder}/a:${userHome}/${workspaceFolderBasename}${/}b', VALUES).text).toBe(
      '/home/ann/shop/a:/home/ann/shop/b',
    );
    expect(expandVariables('${input:region} ${X:-y}', VALUES)).toEqual({
      text: 'eu y',
      open: [],
      chosen: ['${input:region} has its default', '${X:-y} has its default'],
    });
    expect(expandVariables('${input:key} ${env:A} ${B} ${command:c}', VALUES).open).toEqual([
      { written: '${input:key}', kind: 'input', name: 'key', description: 'API key', fallback: undefined },
      { written: '${env:A}', kind: 'env', name: 'A', fallback: undefined },
      { written: '${B}', kind: 'env', name: 'B', fallback: undefined },
      { written: '${command:c}', kind: 'other', name: 'command:c' },
    ]);
  });

  it('leaves the project folder open where there is none', () => {
    const { text, open } = expandVariables('${workspaceFolder}', { ...VALUES, project: undefined });
    expect(text).toBe('${workspaceFolder}');
    expect(open).toMatchObject([{ kind: 'other', name: 'workspaceFolder' }]);
  });
});

describe('readSetting', () => {
  it.each([
    ['GITHUB_TOKEN', 'abcd1234', '', 'abcd1234'],
    ['Authorization', 'Bearer abcd1234', 'Bearer ', 'abcd1234'],
    ['Authorization', 'basic  YTpi', 'basic  ', 'YTpi'],
    ['X-API-Key', 'abcd', '', 'abcd'],
    ['DATABASE_URL', 'postgres://a:example0@db/x', '', 'postgres://a:example0@db/x'],
    ['OTHER', 'sk-example0123456789example', '', 'sk-example0123456789example'],
    ['EXTRA_ARGS', '--password example0', '', '--password example0'],
    ['KEYS', '-----BEGIN PRIVATE KEY-----\nx\n', '', '-----BEGIN PRIVATE KEY-----\nx\n'],
  ])('%s=%s is a secret', (name, text, prefix, value) => {
    expect(readSetting(name, text, VALUES)).toEqual({ kind: 'secret', prefix, value, open: [] });
  });

  it.each([
    ['LEVEL', 'debug'],
    ['MAX_TOKENS', '100'],
    ['X-Region', 'eu'],
    ['API_TOKEN', ''],
    ['API_TOKEN', 'null'],
    ['HOME', '${userHome}'],
  ])('%s=%s is plain', (name, text) => {
    expect(readSetting(name, text, VALUES).kind).toBe('plain');
  });

  it('asks for the value of a variable', () => {
    expect(readSetting('A', '${env:API}', VALUES)).toMatchObject({ kind: 'secret', prefix: '', value: undefined });
    expect(readSetting('A', 'Bearer ${input:key}', VALUES)).toMatchObject({ kind: 'secret', prefix: 'Bearer ' });
    expect(readSetting('A', 'x-${env:B}', VALUES)).toMatchObject({
      kind: 'plain',
      text: 'x-${env:B}',
      open: [{ name: 'B' }],
    });
    expect(readSetting('A', '${command:c}', VALUES)).toMatchObject({ kind: 'plain', open: [{ kind: 'other' }] });
  });

  it('takes no value that could not be read as a secret', () => {
    expect(readSetting('TOKEN', 'abc', VALUES)).toMatchObject({
      kind: 'plain',
      remark: expect.stringContaining('length'),
    });
    expect(readSetting('TOKEN', 'a'.repeat(64 * 1024), VALUES)).toMatchObject({ kind: 'plain' });
    expect(readSetting('TOKEN', 'a'.repeat(64 * 1024 - 1), VALUES)).toMatchObject({ kind: 'secret' });
  });

  it.each(['secret:GITHUB_TOKEN', 'x ${secret:GITHUB_TOKEN}', 'secret::X', 'secret:lower', '$${secret:X}'])(
    'refuses %s',
    (text) => {
      expect(readSetting('X', text, VALUES)).toEqual({ kind: 'reference' });
    },
  );
});
