import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import type { EntryPlace } from './client-server.ts';
import { readServer } from './read-server.ts';

const PLACE: EntryPlace = {
  file: { path: '/x', client: 'cursor', scope: 'user' },
  client: 'cursor',
  group: { path: ['mcpServers'], shape: 'mcpServers' },
  name: 'x',
  line: 1,
  settingLines: new Map(),
};
const read = (value: JsonValue): unknown => {
  const result = readServer(PLACE, value);
  return 'server' in result ? result.server : result.unusable.problem;
};

describe('readServer', () => {
  it('reads a process with all that belongs to it', () => {
    expect(
      read({
        command: 'node',
        args: ['a', 5, true],
        env: { A: 'x', B: 1, C: null },
        cwd: '/srv',
        autoApprove: [],
        note: 1,
      }),
    ).toEqual({
      place: PLACE,
      connection: {
        kind: 'local',
        command: 'node',
        args: ['a', '5', 'true'],
        env: new Map([
          ['A', 'x'],
          ['B', '1'],
        ]),
        cwd: '/srv',
      },
      disabled: false,
      ignored: ['autoApprove', 'note'],
    });
  });

  it.each([
    [{ url: 'https://a.example/mcp' }, 'http'],
    [{ url: 'https://a.example/sse' }, 'sse'],
    [{ url: 'https://a.example/sse', type: 'streamable-http' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'sse' }, 'sse'],
    [{ serverUrl: 'https://a.example/mcp', transport: 'streamableHttp' }, 'http'],
    [{ url: '${BASE}/sse' }, 'sse'],
  ])('%j is reached over %s', (value, transport) => {
    expect(read(value)).toMatchObject({ connection: { kind: 'remote', transport } });
  });

  it('reads the members of Codex', () => {
    expect(
      read({
        url: 'https://a.example',
        bearer_token_env_var: 'TOKEN',
        http_headers: { 'X-A': '1' },
        env_http_headers: { 'X-B': 'B' },
        enabled: false,
      }),
    ).toMatchObject({
      disabled: true,
      connection: {
        headers: new Map([
          ['X-B', '${env:B}'],
          ['Authorization', 'Bearer ${env:TOKEN}'],
          ['X-A', '1'],
        ]),
      },
    });
    expect(read({ command: 'x', env_vars: ['HOME_TOKEN'] })).toMatchObject({
      connection: { env: new Map([['HOME_TOKEN', '${env:HOME_TOKEN}']]) },
    });
  });

  it.each([
    [['node'], 'it is not an object'],
    [{}, 'neither a command nor an address'],
    [{ command: 'x', url: 'https://a.example' }, 'a command and an address'],
    [{ command: ' ' }, 'command is empty'],
    [{ command: 'x', args: 'y' }, 'args are not a list'],
    [{ command: 'x', args: [{}] }, 'args is not text'],
    [{ command: 'x\0' }, 'null character'],
    [{ command: 'x', env: [] }, 'env is not an object'],
    [{ command: 'x', env: { 'A=B': 'x' } }, 'cannot be a name in env'],
    [{ url: 'https://a.example', headers: { 'A B': 'x' } }, 'cannot be a name in headers'],
    [{ url: 'https://a.example', headers: { A: 'x\r\nB: y' } }, 'has a line break'],
    [{ url: 'file:///etc/passwd' }, 'not one of http'],
    [{ url: 'https://a.example', type: 'ws' }, 'type "ws" is unknown'],
  ])('%j: %s', (value, problem) => {
    expect(read(value as JsonValue)).toContain(problem);
  });
});
