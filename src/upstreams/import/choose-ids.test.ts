import { describe, expect, it } from 'vitest';
import { chooseIds } from './choose-ids.ts';
import type { ClientServer } from './client-server.ts';

function server(name: string, command: string, path = '/a'): ClientServer {
  return {
    place: {
      file: { path, client: 'cursor', scope: 'user' },
      client: 'cursor',
      group: { path: ['mcpServers'], shape: 'mcpServers' },
      name,
      line: 1,
      settingLines: new Map(),
    },
    connection: { kind: 'local', command, args: [], env: new Map([['A', 'b']]), cwd: undefined },
    disabled: false,
    ignored: [],
  };
}
const idsOf = (...servers: ClientServer[]): string[] =>
  chooseIds(servers).map(
    ({ id, entries, idRemark }) => `${id} ${entries.length}${idRemark === undefined ? '' : ` ${idRemark}`}`,
  );

describe('chooseIds', () => {
  it('makes an id of any name', () => {
    const long = 'x'.repeat(80);
    expect(
      idsOf(server('my notes', '1'), server('__a__', '2'), server('', '3'), server('日本', '4'), server(long, '5')),
    ).toEqual([
      'my-notes 1 its name "my notes" cannot be an id',
      'a 1 its name "__a__" cannot be an id',
      'server 1 its name "" cannot be an id',
      'server-2 1 another server has the id server',
      `${'x'.repeat(64)} 1 its name "${long}" cannot be an id`,
    ]);
  });

  it('joins equal servers of one name, and no others', () => {
    expect(idsOf(server('a', '1'), server('a', '1', '/b'), server('a', '2', '/b'), server('b', '1'))).toEqual([
      'a 2',
      'a-2 1 another server has the id a',
      'b 1',
    ]);
  });

  it('keeps servers apart whose project folders differ', () => {
    const [one, other] = ['/a', '/b'].map((path) => server('a', '${workspaceFolder}/x', path));
    expect(idsOf(one!, other!)).toEqual(['a 1', 'a-2 1 another server has the id a']);
    expect(idsOf(one!, one!)).toEqual(['a 2']);
  });
});
